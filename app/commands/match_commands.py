"""Operators' commands on one match: one struct each, tagged by `command`, and what every command has. Those
that control prices and offers are in `trading_commands`.

`request_id` is the operator's own: a command that is sent again with it is not executed again. Invalid values
are refused with the field's name before anything is read from the store.
"""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from app.domain.entrants import MAX_STRENGTH
from app.domain.market import MarketKey
from app.domain.match import Team
from app.domain.match_info import Veto, VideoStream, VodAnchor
from app.domain.settlement import VoidWindow
from app.kit.clock import LAST_MILLIS
from app.kit.names import NAME, Name

Words = Annotated[str, Meta(max_length=500)]
Address = Annotated[str, Meta(pattern=r"^(https?://\S{1,1000})?$")]
Moment = Annotated[int, Meta(ge=0, le=LAST_MILLIS)]
Number = Annotated[int, Meta(ge=1, le=2_147_483_647)]
Strength = Annotated[float, Meta(ge=0, le=MAX_STRENGTH)]
Rounds = Annotated[int, Meta(ge=2, le=100, multiple_of=2)]
Overtime = Annotated[int, Meta(ge=0, le=20, multiple_of=2)]
TeamName = Literal["team_a", "team_b"]
BestOf = Literal["bo1", "bo3", "bo5"]
_TEAMS: dict[TeamName, Team] = {"team_a": "home", "team_b": "away"}


def team_of(name: TeamName) -> Team:
    return _TEAMS[name]


class Command(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="command"):
    """A command on a match. `revision` is the match's as its sender saw it: the command is refused if that of
    somebody else has been executed since."""

    request_id: Name | None = None
    revision: Annotated[int, Meta(ge=0)] | None = None


class Schedule(Command, frozen=True, tag="schedule"):
    """`scheduled_at`: Unix ms."""

    scheduled_at: Moment


class Cancel(Command, frozen=True, tag="cancel"):
    pass


class SetTeams(Command, frozen=True, tag="set_teams"):
    """Other teams, before play. Strengths and `allow_unrated` as in the creation; without its id, a
    team is found by its name."""

    team_a: Name
    team_b: Name
    strength_a: Strength = 0.0
    strength_b: Strength = 0.0
    id_a: Number | None = None
    id_b: Number | None = None
    allow_unrated: bool = False


class Rate(Command, frozen=True, tag="rate"):
    """Strengths of the teams; omitted fields stay unchanged. `allow_unrated`: offer prices although a team
    has no strength; if one team has one, it is used."""

    strength_a: Annotated[float, Meta(gt=0, le=MAX_STRENGTH)] | None = None
    strength_b: Annotated[float, Meta(gt=0, le=MAX_STRENGTH)] | None = None
    allow_unrated: bool = False


class RenameTeam(Command, frozen=True, tag="rename_team"):
    team: TeamName
    name: Name


class SetFormat(Command, frozen=True, tag="set_format"):
    """Omitted fields stay unchanged. `overtime_rounds` 0: no overtime."""

    bo_type: BestOf | None = None
    max_rounds: Rounds | None = None
    overtime_rounds: Overtime | None = None


class VetoStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    action: Literal["ban", "pick", "decider"]
    map: Name
    team: TeamName | None = None

    @property
    def veto(self) -> Veto:
        return Veto(self.action, self.map, team_of(self.team) if self.team else None)


class SetMaps(Command, frozen=True, tag="set_maps"):
    """The veto in order; picks and the decider are the maps that will be played."""

    vetoes: Annotated[tuple[VetoStep, ...], Meta(min_length=1, max_length=20)]


class VodAnchorGiven(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`offset_seconds` after its beginning, the recording shows what happened at `at` (Unix ms)."""

    at: Moment
    offset_seconds: Annotated[float, Meta(ge=0, le=1_000_000)]

    @property
    def anchor(self) -> VodAnchor:
        return VodAnchor(self.at, self.offset_seconds)


class StreamGiven(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`vod_anchors` are in order; one suffices for a recording out of which nothing was cut."""

    url: Annotated[str, Meta(pattern=r"^https?://\S{1,1000}$")]
    language: Annotated[str, Meta(pattern=r"^([a-z]{2})?$")] = ""
    name: Annotated[str, Meta(max_length=120)] = ""
    vod_anchors: Annotated[tuple[VodAnchorGiven, ...], Meta(max_length=100)] = ()

    @property
    def stream(self) -> VideoStream:
        anchors = tuple(given.anchor for given in self.vod_anchors)
        return VideoStream(self.url, self.language, self.name, anchors)


class Describe(Command, frozen=True, tag="describe"):
    """All information beside the play; it replaces the previous: omitted fields are cleared. Without its id,
    the tournament is found by the match's `event`."""

    streams: Annotated[tuple[StreamGiven, ...], Meta(max_length=20)] = ()
    demo_url: Address = ""
    external_id: Annotated[str, Meta(max_length=120)] = ""
    source_url: Address = ""
    data_delay_seconds: Annotated[int, Meta(ge=0, le=3600)] = 0
    tournament_id: Number | None = None


class Suspend(Command, frozen=True, tag="suspend"):
    reason: Words = ""


class Unsuspend(Command, frozen=True, tag="unsuspend"):
    """`reason`: why the match continues; it is recorded."""

    reason: Words = ""


class FollowSource(Command, frozen=True, tag="follow_source"):
    """Follow this sender of the match's log, and no other: `source` as in the list of sources. With the one
    that is followed already, the claims of the others are dismissed."""

    source: Annotated[str, Meta(min_length=1, max_length=500, pattern=NAME)]


class FollowReferences(Command, frozen=True, kw_only=True, tag="follow_references"):
    """Whether prices follow the market's reference prices; null: as the installation's setting says. To
    follow none ends a suspension because they are too far from ours. `reason` is recorded."""

    follow: bool | None = None
    reason: Words = ""


class NameSides(Command, frozen=True, tag="name_sides"):
    """Which team plays CT now, or begins the next map as CT where no map is in play."""

    ct: TeamName


class AcceptRestart(Command, frozen=True, tag="accept_restart"):
    """The play since a restart at a lower score takes the place of what was before."""


class KeepBranch(Command, frozen=True, tag="keep_branch"):
    """What was played before a restart at a lower score stands, whatever is played since, until a backup or
    the log's score continues it."""


class OnEvents(Command, frozen=True, kw_only=True):
    """On the events of a finished round that are in doubt."""

    map: Number
    round: Number


class AcceptEvents(OnEvents, frozen=True, tag="accept_events"):
    """They count as they are known: what rests on them is settled by them."""


class VoidEvents(OnEvents, frozen=True, tag="void_events"):
    """What rests on them is void, also what was settled before they were in doubt."""


class AwardMap(Command, frozen=True, tag="award_map"):
    """A walkover of the map in play, or of the next one."""

    winner: TeamName


class AwardMatch(Command, frozen=True, tag="award_match"):
    winner: TeamName


class OnMarket(Command, frozen=True, kw_only=True):
    """`specifiers` as in the feed, ``map=1|round=3|team=home``; `reason` is recorded in the ledger."""

    market_id: Number
    specifiers: Annotated[str, Meta(max_length=200)] = ""
    reason: Annotated[str, Meta(min_length=1, max_length=500)]

    @property
    def key(self) -> MarketKey:
        return self.market_id, self.specifiers


class OnBets(OnMarket, frozen=True, kw_only=True):
    """On the whole market, or with `start_time` and `end_time` (Unix ms, both or none) on the bets placed
    within them only."""

    start_time: Moment | None = None
    end_time: Moment | None = None

    @property
    def window(self) -> VoidWindow | None:
        if self.start_time is None or self.end_time is None:
            return None
        return VoidWindow(self.start_time, self.end_time)


class VoidMarket(OnBets, frozen=True, kw_only=True, tag="void_market"):
    void_reason_id: Literal[4, 14, 15] = 4


class SettleMarket(OnMarket, frozen=True, kw_only=True, tag="settle_market"):
    result: Literal["won", "lost"]


class UpholdClaim(OnMarket, frozen=True, kw_only=True, tag="uphold_claim"):
    """Correct the result of a market as a tenant claims, or otherwise: roll it back and settle it, or void
    it. `claim` is the claim's id, `answer` what its tenant is answered; `reason`, for the ledger, is seen by
    every tenant. Refused if the result was changed since the claim was made."""

    claim: UUID
    result: Literal["won", "lost", "void"]
    void_reason_id: Literal[4, 14, 15] = 4
    answer: Words = ""


class RollBackMarket(OnBets, frozen=True, kw_only=True, tag="roll_back_market"):
    """Roll back the settlement or void. The market is held until an operator settles or voids it, unless
    `release` returns it to the engine. With a window, the void of the bets in it is rolled back and the
    market itself stays unchanged."""

    release: bool = False
