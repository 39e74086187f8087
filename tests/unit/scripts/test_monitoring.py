"""The rules at another scale, and the table of faults."""

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.sandbox.faults import FAULTS
from scripts.monitoring import fault_alerts, rules_file
from scripts.monitoring.__main__ import compared
from scripts.monitoring.fault_alerts import Raised
from scripts.pages import alerts_page

EXPECTED = Raised(
    raises=frozenset({"A"}), may=frozenset({"B"}), operators=frozenset({"x"}), may_operators=frozenset({"y"})
)


def test_every_fault_of_the_menu_has_its_alerts() -> None:
    assert list(fault_alerts.FAULTS) == list(FAULTS)


def test_windows_are_shorter_and_nothing_else() -> None:
    rules = rules_file.text()
    shorter = rules_file.scaled(rules, 20)
    assert "[15000ms]" in shorter and "for: 3000ms" in shorter and "ratio_rate5m" in shorter
    restored = re.sub(r"\d+ms", "T", shorter)
    assert restored == re.sub(r"(?<=\[)\d+[smhd](?=\])|(?<=for: )\d+[smhd]", "T", rules)


@pytest.mark.parametrize(
    ("fired", "opened", "wrong"),
    [
        ({"A"}, {"x"}, []),
        ({"A", "B"}, {"x", "y"}, []),
        ({"B"}, {"x"}, ["f: Prometheus: A is missing"]),
        ({"A", "C"}, {"x"}, ["f: Prometheus: C too many"]),
        ({"A"}, {"z"}, ["f: operators' alerts: x is missing", "f: operators' alerts: z too many"]),
    ],
)
def test_what_is_raised_is_compared(fired: set[str], opened: set[str], wrong: list[str]) -> None:
    watch = cast(Any, SimpleNamespace(fired=fired, opened=opened, firing=frozenset(), open=frozenset()))
    assert compared("f", EXPECTED, watch, ended=True) == wrong


def test_what_does_not_end_is_wrong() -> None:
    watch = cast(Any, SimpleNamespace(fired={"A"}, opened={"x"}, firing={"A"}, open=set()))
    assert compared("f", EXPECTED, watch, ended=False) == ["f: did not end: ['A'], open set()"]


def test_an_alert_that_does_not_exist_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fault_alerts.FAULTS, "feed", EXPECTED)
    with pytest.raises(ValueError, match="unknown alerts: \\['A', 'B'\\]"):
        alerts_page.page()
