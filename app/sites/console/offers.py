"""The open markets of a match as a trader reads them: both sides of a proposition beside each other, every
line of a total or a handicap on one row, in sections for the match, each map, its round in play and players.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Literal

import msgspec

from app.domain.market import Market, MarketKey, MarketStatus, specifier_values
from app.domain.match import Match
from app.domain.suspension_reasons import OF_OPERATORS, code_of
from app.sites.console.site import market_path
from app.sites.pages.market_names import Players, account_of_opponent, account_of_player

SectionKind = Literal["match", "map", "round", "players"]
#: What tells the lines of one row apart; everything else that a group's name says names the row.
_OF_LINES = ("handicap", "threshold", "target", "half")
_WIDE_LINES = 3  #: a row with more of them takes the whole width
_LONG = ("correct_map_score", "round_ending", "map_most_kills")  #: rows whose only line has so many sides


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """One market of a line. `who` is the team or the player that wins; else `side` names its text,
    `offers.sides.<side>`, or is the score that it says (`2:0`); else the catalogue's name of it has to say
    it. `path` is its page.
    `on_offer`: bets are taken. `ours`: an operator suspended it, holds it, or withdrew its line."""

    key: MarketKey
    path: str
    who: str
    side: str
    odds: Decimal
    probability: float
    on_offer: bool
    ours: bool
    reason: str


class Line(msgspec.Struct, frozen=True):
    """The markets of one group, or one that is priced alone. `label`: the line itself, in the terms of the
    first market; "" where there is one only. `margin` while all of it is on offer. `main`: of the lines of a
    row the one nearest to evens."""

    label: str
    prices: tuple[Price, ...]
    margin: float | None
    main: bool


class OfferRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table: the lines of one proposition, or, without lines, the heading of a section.

    `name` names the text of the row (`offers.rows.<name>`); `about` is the player or the team."""

    section: SectionKind
    map: int = 0
    round: int = 0
    name: str = ""
    about: str = ""
    lines: tuple[Line, ...] = ()

    @property
    def wide(self) -> bool:
        return len(self.lines) > _WIDE_LINES or self.name in _LONG


class _Place(msgspec.Struct, frozen=True):
    """Where a market is shown: its section, its row within it, and its line on that."""

    section: tuple[int, int, int]
    row: tuple[str, ...]
    line: str


def offer_rows(found: Iterable[Market], match: Match, players: Players) -> dict[str, OfferRow]:
    """The rows of these markets by their keys, each section behind its heading."""
    sections: dict[tuple[int, int, int], dict[tuple[str, ...], dict[str, list[Market]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for market in sorted(found, key=_order):
        place = _place(market)
        sections[place.section][place.row][place.line].append(market)
    rows: dict[str, OfferRow] = {}
    for section in sorted(sections, key=_section_order):
        kind, number, of_round = _section(section)
        rows[":".join(map(str, section))] = OfferRow(section=kind, map=number, round=of_round)
        offers = {}
        for row, lines in _ordered(sections[section], match, players).items():
            some = next(iter(lines.values()))[0]
            offers[":".join((*map(str, section), *row))] = OfferRow(
                section=kind,
                map=number,
                round=of_round,
                name=row[0],
                about=_about(some, row, match, players),
                lines=_lines(list(lines.values()), match, players),
            )
        rows |= dict(sorted(offers.items(), key=lambda each: each[1].wide))
    return rows


def _section_order(section: tuple[int, int, int]) -> tuple[int, bool, int, int]:
    """The match, then of each map its rounds, the one in play first, then the map, then its players."""
    number, of_players, of_round = section
    return number, not of_round and number > 0, of_players, of_round


_Rows = dict[tuple[str, ...], dict[str, list[Market]]]


def _ordered(rows: _Rows, match: Match, players: Players) -> _Rows:
    """The rows; those of players by team, home first, and name."""
    team_of = {each.account: each.team for each in match.roster}

    def key(row: tuple[str, ...]) -> tuple[bool, str]:
        account = account_of_player(next(iter(rows[row].values()))[0].key)
        player = players.get(account)
        return team_of.get(account or 0) == "away", player.name.casefold() if player else ""

    return {row: rows[row] for row in sorted(rows, key=key)}


def _section(section: tuple[int, int, int]) -> tuple[SectionKind, int, int]:
    number, of_players, of_round = section
    if of_players:
        return "players", number, 0
    if of_round:
        return "round", number, of_round
    return ("map" if number else "match"), number, 0


def _place(market: Market) -> _Place:
    kind, _, rest = (market.group or f"{market.type_id}:{market.specifiers}").partition(":")
    values = specifier_values(rest)
    section = (number_of(values, "map"), int("player" in values), number_of(values, "round"))
    own = [f"{name}={value}" for name, value in values.items() if name not in ("map", "round", *_OF_LINES)]
    line = "|".join(f"{name}={value}" for name, value in values.items() if name in _OF_LINES)
    return _Place(section, (kind, *own), line)


def _lines(groups: Sequence[Sequence[Market]], match: Match, players: Players) -> tuple[Line, ...]:
    nearest = min(groups, key=lambda group: abs(group[0].probability - 0.5)) if len(groups) > 1 else None
    return tuple(
        Line(
            label=_label(min(group, key=_team_order)),
            prices=tuple(_price(market, match, players) for market in sorted(group, key=_team_order)),
            margin=_margin(group),
            main=group is nearest and _is_ladder(group[0]),
        )
        for group in groups
    )


def _is_ladder(market: Market) -> bool:
    return not {"handicap", "threshold"}.isdisjoint(specifier_values(market.specifiers))


def _label(market: Market) -> str:
    values = specifier_values(market.specifiers)
    return next((values[name] for name in _OF_LINES if name in values), "")


def _price(market: Market, match: Match, players: Players) -> Price:
    on_offer = market.status is MarketStatus.ACTIVE
    return Price(
        key=market.key,
        path=market_path(match.number, market.key),
        who=_who_of_side(market, match, players),
        side=_side(market),
        odds=market.odds,
        probability=market.probability,
        on_offer=on_offer,
        ours=market.held or (not on_offer and _is_operators(market.reason, match)),
        reason=market.reason,
    )


def _is_operators(reason: str, match: Match) -> bool:
    """Whether an operator suspended the market, not the whole match."""
    return reason not in ("", match.suspended) and code_of(reason) in OF_OPERATORS


_OF_PLAYERS = (38, 39)  #: types in whose groups each side is a player
#: The texts of sides, `offers.sides.<name>`, of types that name no team and have a short one.
_SIDES = {
    **dict.fromkeys((3, 8, 19, 25, 36), "over"),
    **dict.fromkeys((4, 9, 20, 26, 37), "under"),
    **dict.fromkeys((10, 15, 16, 17), "yes"),
    **dict.fromkeys((31, 32, 33, 34), "no"),
    **dict.fromkeys((23, 35, 40), "level"),
    18: "defuse",
    21: "bomb",
    27: "odd",
    28: "even",
    29: "time",
    30: "elimination",
}


def _side(market: Market) -> str:
    values = specifier_values(market.specifiers)
    if "home_maps" in values:
        return f"{values['home_maps']}:{values['away_maps']}"
    return _SIDES.get(market.type_id, "")


def _who_of_side(market: Market, match: Match, players: Players) -> str:
    if market.type_id in _SIDES:
        return ""
    if market.type_id in _OF_PLAYERS:
        return _player_name(market, players)
    return _short(specifier_values(market.specifiers).get("team", ""), match)


def _about(market: Market, row: tuple[str, ...], match: Match, players: Players) -> str:
    """The player or the team that the whole row is about; a player who is not known by the number."""
    values = specifier_values(market.specifiers)
    if "player" in values:
        name = _player_name(market, players)
        other = players.get(account_of_opponent(market.key))
        return f"{name} – {other.name if other else values['opponent']}" if "opponent" in values else name
    return _short(values["team"], match) if any(each.startswith("team=") for each in row[1:]) else ""


def _player_name(market: Market, players: Players) -> str:
    player = players.get(account_of_player(market.key))
    return player.name if player else specifier_values(market.specifiers)["player"]


def _short(team: str, match: Match) -> str:
    """The first word of the team's name, or all of it where the other one begins with the same."""
    if not team:
        return ""
    name, other = (match.home, match.away) if team == "home" else (match.away, match.home)
    word = name.partition(" ")[0]
    return word if word != other.partition(" ")[0] else name


def _margin(group: Sequence[Market]) -> float | None:
    """That of the group; of a market that is priced alone, how far its inverse odds exceed its
    probability."""
    if any(each.status is not MarketStatus.ACTIVE for each in group):
        return None
    if len(group) > 1 or group[0].group:
        return sum(float(1 / each.odds) for each in group) - 1
    own = group[0].probability
    return float(1 / group[0].odds) / own - 1 if own else None


def _order(market: Market) -> tuple[object, ...]:
    """Rows in the order of their first types, players and teams; lines as they rise."""
    values = specifier_values(market.specifiers)
    line = next((float(values[name]) for name in _OF_LINES if name in values), 0.0)
    return market.type_id, values.get("player", ""), _team_order(market), line, market.specifiers


def _team_order(market: Market) -> int:
    """Home, what is about neither team, away."""
    return {"home": 0, "": 1, "away": 2}[specifier_values(market.specifiers).get("team", "")]


def number_of(values: dict[str, str], name: str) -> int:
    """A number among the values of specifiers; 0 without one."""
    text = values.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() else 0
