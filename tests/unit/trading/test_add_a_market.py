"""`docs/add-a-market.md`, with its code executed, yields a market that opens, settles and audits."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from app.domain.market import Result
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, new_truth
from app.trading.registry import RULES
from app.trading.rules import Rule
from app.trading.specifiers import Specifiers, parse
from tests.unit.trading.trader import trade

PAGE = (Path(__file__).parents[3] / "docs" / "add-a-market.md").read_text("utf-8")


def blocks(language: str) -> str:
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))


@pytest.fixture
def rule(monkeypatch: pytest.MonkeyPatch) -> Rule:
    names: dict[str, Any] = {}
    exec(compile(blocks("python"), "add-a-market.md", "exec"), names)
    written: Rule = names["RULE"]
    assert written.id not in RULES
    monkeypatch.setitem(RULES, written.id, written)
    return written


def test_the_market_opens_and_settles(rule: Rule) -> None:
    teams = fictional_world().teams
    plan = MatchPlan(teams[2], teams[9], 5, 1_790_000_000_000, brief=True, knife=False)
    truth = new_truth(plan)
    trader = list(trade(plan, truth, checking=True, seconds=5.0))[-1]
    markets = [market for market in trader.book.values() if market.type_id == rule.id]
    assert len(markets) > 20
    for market in markets:
        specifiers = parse(market.specifiers)
        played = truth.maps[0].rounds[specifiers.round - 1]
        side = played.side if played.winner == specifiers.team else None
        lost = [k for k in played.kills if k.victim_side == side != k.side]
        assert market.result is (Result.WON if side and not lost else Result.LOST), played


def test_the_entry_names_the_rule(rule: Rule) -> None:
    (entry,) = tomllib.loads(blocks("toml"))["market"]
    assert (entry["id"], entry["key"]) == (rule.id, rule.key)
    names = [name for name in Specifiers.__struct_fields__ if name in entry["specifiers"]]
    assert names == entry["specifiers"]
    for text in (entry["en"], entry["ru"]):
        assert set(re.findall(r"\{(\w+)\}", text)) == set(names)
