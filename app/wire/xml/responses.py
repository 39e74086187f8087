"""The facade's documents that show no resource: the identity of a key, the acknowledgement of a recovery, not
found; and the moment of rendering of any document."""

import re
from typing import Literal

import msgspec

from app.domain.tenant import Grant
from app.wire.generated import facade
from app.wire.text import utc

NEVER = 4_102_444_799_000  #: when keys expire, for clients that insist on a date: the end of 2099
_NAME = re.compile(rb"<[a-z_]+")

NotFoundRoot = Literal[
    "sport_tournaments",
    "tournament_info",
    "competitor_profile",
    "player_profile",
    "fixtures_fixture",
    "match_summary",
    "market_descriptions",
    "available_selections",
    "cashout",
]

_MARK = facade.NotFound(response_code=facade.ResponseCode.NOT_FOUND)
_NOT_FOUND: dict[NotFoundRoot, bytes] = {
    "sport_tournaments": facade.write_sport_tournaments(facade.SportTournaments(response=_MARK)),
    "tournament_info": facade.write_tournament_info(facade.TournamentInfo(response=_MARK)),
    "competitor_profile": facade.write_competitor_profile(facade.CompetitorProfile(response=_MARK)),
    "player_profile": facade.write_player_profile(facade.PlayerProfile(response=_MARK)),
    "fixtures_fixture": facade.write_fixtures_fixture(facade.FixturesFixture(response=_MARK)),
    "match_summary": facade.write_match_summary(facade.MatchSummary(response=_MARK)),
    "market_descriptions": facade.write_market_descriptions(
        facade.MarketDescriptions(response_code=facade.ResponseCode.NOT_FOUND, response=_MARK)
    ),
    "available_selections": facade.write_available_selections(facade.AvailableSelections(response=_MARK)),
    "cashout": facade.write_cashout(facade.Cashout(response=_MARK)),
}


class Acknowledgement(msgspec.Struct, frozen=True):
    """An accepted recovery. `after` and `scheduled_at` are Unix ms."""

    request_id: str
    action: str
    scheduled_at: int
    node_id: str | None = None
    after: int | None = None


def not_found(root: NotFoundRoot) -> bytes:
    """The document of a resource that does not exist: its root, with nothing but the mark of an error."""
    return _NOT_FOUND[root]


def with_generated_at(document: bytes, at: int) -> bytes:
    """`document` with `generated_at` in its root, the moment (Unix ms) at which it was made.

    Every root of the facade's answers may have it. It is added last, so that documents of the same state have
    the same ETag.
    """
    name = _NAME.match(document)
    if name is None:
        raise ValueError(f"this is no document: {document[:40]!r}")
    return b'%b generated_at="%b"%b' % (name[0], utc(at).encode(), document[name.end() :])


def bookmaker_details(grant: Grant) -> bytes:
    """The tenant of the key, and the key's rights."""
    tenant = grant.tenant
    return facade.write_bookmaker_details(
        facade.BookmakerDetails(
            response_code=facade.ResponseCode.OK,
            bookmaker_id=tenant.bookmaker_id,
            virtual_host=tenant.vhost,
            expire_at=NEVER,
            tenant_id=str(tenant.id),
            name=tenant.name,
            rate_limit_rpm=grant.rate_limit_rpm,
            scopes=facade.GrantedScopes(
                scope=tuple([facade.GrantedScope(name=scope) for scope in sorted(grant.scopes)])
            ),
            sport_allowlist=facade.AllowedSports(
                sport=tuple([facade.AllowedSport(slug=slug) for slug in sorted(grant.sports)])
            ),
        )
    )


def recovery_accepted(found: Acknowledgement) -> bytes:
    """The response to an accepted recovery request."""
    return facade.write_response(
        facade.Response(
            response_code=facade.ResponseCode.ACCEPTED,
            request_id=found.request_id,
            node_id=found.node_id,
            after=found.after,
            scheduled_at=found.scheduled_at,
            action=found.action,
            message=f"Recovery {found.request_id} has been scheduled; snapshot_complete will end it.",
        )
    )
