"""Soccer's competitors and tournaments as JSON. URNs begin with the prefix of the data's provider."""

from collections.abc import Iterable
from typing import Any

import msgspec

from app.domain.entrants import SoccerCompetitor, SoccerTournament
from app.wire.views.entrants import NamedView


class SoccerCompetitorView(msgspec.Struct, frozen=True, kw_only=True):
    """A club or a national team; `icon_path` is its crest or flag."""

    id: str
    external_id: int
    name: str
    country: str | None
    country_code: str | None
    abbreviation: str | None
    is_national: bool
    gender: str | None
    icon_path: str | None


class CountryView(msgspec.Struct, frozen=True):
    """The category of a tournament."""

    name: str
    country_code: str | None


class SeasonView(msgspec.Struct, frozen=True):
    """The latest season, from the first day to the last."""

    name: str
    starts_on: str | None
    ends_on: str | None


class SoccerTournamentView(msgspec.Struct, frozen=True, kw_only=True):
    """A competition, and the `parent` that it is part of. `risk_tier` 1 weighs the most, 0 is not rated."""

    id: str
    external_id: int
    name: str
    parent: str | None
    gender: str | None
    category: CountryView | None
    season: SeasonView | None
    risk_tier: int
    icon_path: str | None


class SoccerTournamentDetailView(SoccerTournamentView, frozen=True, kw_only=True):
    """A competition and its participants."""

    competitors: tuple[NamedView, ...]


def competitor_view(found: SoccerCompetitor, prefix: str) -> SoccerCompetitorView:
    return SoccerCompetitorView(
        id=_urn(prefix, "competitor", found.id),
        external_id=found.id,
        name=found.name,
        country=found.country or None,
        country_code=found.country_code or None,
        abbreviation=found.abbreviation or None,
        is_national=found.is_national,
        gender=found.gender or None,
        icon_path=found.icon_path or None,
    )


def tournament_view(found: SoccerTournament, prefix: str) -> SoccerTournamentView:
    return SoccerTournamentView(**_tournament(found, prefix))


def tournament_detail_view(
    found: SoccerTournament, competitors: Iterable[SoccerCompetitor], prefix: str
) -> SoccerTournamentDetailView:
    named = tuple(NamedView(_urn(prefix, "competitor", one.id), one.id, one.name) for one in competitors)
    return SoccerTournamentDetailView(**_tournament(found, prefix), competitors=named)


def _tournament(found: SoccerTournament, prefix: str) -> dict[str, Any]:
    category, season = found.category, found.season
    return {
        "id": _urn(prefix, "competition", found.id),
        "external_id": found.id,
        "name": found.name,
        "parent": found.parent or None,
        "gender": found.gender or None,
        "category": CountryView(category.name, category.code or None) if category else None,
        "season": SeasonView(season.name, season.starts_on or None, season.ends_on or None)
        if season
        else None,
        "risk_tier": found.risk_tier,
        "icon_path": found.icon_path or None,
    }


def _urn(prefix: str, kind: str, number: int) -> str:
    return f"{prefix}:{kind}:{number}"
