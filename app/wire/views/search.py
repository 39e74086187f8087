"""Search results as JSON."""

from typing import Literal

import msgspec

from app.domain.entrants import Competitor, Player, Tournament
from app.domain.ids import competitor_urn, player_urn, tournament_urn
from app.domain.match import Match

Kind = Literal["match", "team", "player", "tournament"]


class HitView(msgspec.Struct, frozen=True, kw_only=True):
    """One result. `id` names it in the paths of its type; `score` is 1 for the very name, 0.9 for its
    beginning, 0.7 for a part of it, and otherwise how much it resembles the query. A match scores as the best
    of its teams and its tournament does."""

    type: Kind
    id: str
    label: str
    sub_label: str | None
    score: float


class SearchMeta(msgspec.Struct, frozen=True):
    """`types_searched` are the requested types that the key may list."""

    count: int
    by_type: dict[Kind, int]
    types_searched: tuple[Kind, ...]
    q: str


class SearchView(msgspec.Struct, frozen=True):
    """The best hits first."""

    data: tuple[HitView, ...]
    meta: SearchMeta


def search_view(q: str, searched: tuple[Kind, ...], hits: tuple[HitView, ...]) -> SearchView:
    by_type = {kind: sum(hit.type == kind for hit in hits) for kind in searched}
    return SearchView(hits, SearchMeta(len(hits), by_type, searched, q))


def team_hit(team: Competitor, score: float) -> HitView:
    below = " · ".join(filter(None, (team.region, team.country))) or None
    return _hit("team", competitor_urn(team.id), team.name, below, score)


def player_hit(player: Player, team: Competitor | None, score: float) -> HitView:
    return _hit("player", player_urn(player.number), player.name, team.name if team else None, score)


def tournament_hit(tournament: Tournament, score: float) -> HitView:
    below = f"{tournament.tier}-tier" if tournament.tier else None
    return _hit("tournament", tournament_urn(tournament.id), tournament.name, below, score)


def match_hit(match: Match, score: float) -> HitView:
    label = f"{match.home} vs {match.away}"
    return _hit("match", str(match.id), label, f"{match.event} · {match.status.value}", score)


def _hit(kind: Kind, name: str, label: str, below: str | None, score: float) -> HitView:
    return HitView(type=kind, id=name, label=label, sub_label=below, score=round(score, 4))
