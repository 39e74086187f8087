"""`docs/add-a-market.md`, with its code executed, yields a market that opens, settles and audits."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from app.domain.market import Result
from app.trading.registry import RULES
from app.trading.rules import Rule, Specifiers, parse_specifiers
from tests.support.simulated import plan_between
from tests.unit.trading.trader import traded

PAGE = (Path(__file__).parents[3] / "docs" / "add-a-market.md").read_text("utf-8")


def blocks(language: str) -> str:
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> tuple[Rule, ...]:
    names: dict[str, Any] = {}
    exec(compile(blocks("python"), "add-a-market.md", "exec"), names)
    rules: tuple[Rule, ...] = names["NEW_RULES"]
    for rule in rules:
        assert rule.id not in RULES
        monkeypatch.setitem(RULES, rule.id, rule)
    return rules


def test_the_markets_open_and_settle(written: tuple[Rule, ...]) -> None:
    trader, truth = traded(plan_between(2, 9, 5, brief=True, knife=False), seconds=5.0)
    for rule in written:
        markets = [market for market in trader.book.values() if market.type_id == rule.id]
        assert len(markets) > 10
        for market in markets:
            specifiers = parse_specifiers(market.specifiers)
            played = truth.maps[0].rounds[specifiers.round - 1]
            flawless = not [k for k in played.kills if k.victim_side == played.side != k.side]
            won = flawless and specifiers.team == played.winner if specifiers.team else not flawless
            assert market.result is (Result.WON if won else Result.LOST), played


def test_the_entries_name_the_rules(written: tuple[Rule, ...]) -> None:
    entries = tomllib.loads(blocks("toml"))["market"]
    assert [(entry["id"], entry["key"]) for entry in entries] == [(rule.id, rule.key) for rule in written]
    for entry in entries:
        names = [name for name in Specifiers.__struct_fields__ if name in entry["specifiers"]]
        assert names == entry["specifiers"]
        for text in (entry["en"], entry["ru"]):
            assert set(re.findall(r"\{(\w+)\}", text)) == set(names)
