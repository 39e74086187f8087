"""One player as JSON, with the statistics of their finished maps."""

from collections.abc import Iterable

import msgspec

from app.domain.analytics import PlayerTally, TimeFilter, total
from app.domain.entrants import Competitor, Player
from app.domain.ids import player_urn
from app.wire.views.entrants import PlayerView, player_fields
from app.wire.views.statistics import ALL, PlayerMapView, player_map_view, player_rows


class PlayerDetailView(PlayerView, frozen=True, kw_only=True):
    """A player, and their maps within `time_filter` for whatever team; the row `all` comes first."""

    time_filter: TimeFilter
    map_stats: tuple[PlayerMapView, ...]


class RosterView(msgspec.Struct, frozen=True, kw_only=True):
    """A player of a squad, and all of their maps together."""

    id: str
    external_id: int
    name: str
    stats: PlayerMapView


def player_detail_view(
    player: Player, team: Competitor | None, window: TimeFilter, counts: Iterable[tuple[str, PlayerTally]]
) -> PlayerDetailView:
    return PlayerDetailView(**player_fields(player, team), time_filter=window, map_stats=player_rows(counts))


def roster_view(player: Player, tallies: Iterable[PlayerTally]) -> RosterView:
    stats = player_map_view(ALL, total(PlayerTally, tallies))
    return RosterView(id=player_urn(player.number), external_id=player.number, name=player.name, stats=stats)
