from piccolo.columns import BigInt, Boolean, DoublePrecision, Integer, Text
from piccolo.table import Table

from app.store.tables.columns import Json
from app.store.tables.dialect import DIALECT


class RatingEvent(Table, tablename="rating_event", db=DIALECT):
    """`domain.strength.RatingEvent` in `body`; `outcome` is what it made of its teams' ratings."""

    reference = Text(primary_key=True)
    at = BigInt()
    series = Text()
    team_a = Integer()
    team_b = Integer(null=True, default=None)
    body = Json()
    outcome = Json(null=True, default=None)


class TeamRating(Table, tablename="team_rating", db=DIALECT):
    """`domain.strength.TeamRating` of each team that has had an event; it `stands` while the team has one.
    `version` is larger each time that it is computed."""

    team_id = Integer(primary_key=True)
    points = DoublePrecision()
    spread = DoublePrecision()
    at = BigInt()
    maps = Integer()
    anchored = Boolean()
    stands = Boolean()
    version = BigInt()
