"""Reference data by which teams, players and tournaments are known, found and rated."""

from piccolo.columns import UUID, BigInt, Boolean, DoublePrecision, Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT, Json


class _Entrants:
    """The columns of all tables of entrants: an entrant's number, its case-folded name, the number in another
    table of what it belongs to, and its struct."""

    id = Integer(primary_key=True)
    folded = Text()
    parent = Integer(null=True, default=None)
    body = Json()


class Category(_Entrants, Table, tablename="category", db=DIALECT):
    """`domain.entrants.Category`, found by number, by case-folded name."""


class Tournament(_Entrants, Table, tablename="tournament", db=DIALECT):
    """`domain.entrants.Tournament`, found by number, by case-folded name and by its category."""


class Team(_Entrants, Table, tablename="team", db=DIALECT):
    """`domain.entrants.Competitor`, found by number, by case-folded name."""


class Player(_Entrants, Table, tablename="player", db=DIALECT):
    """`domain.entrants.Player`, found by number, by case-folded name and by the team."""


class SoccerCompetitor(_Entrants, Table, tablename="soccer_competitor", db=DIALECT):
    """`domain.entrants.SoccerCompetitor`, found by number, by case-folded name."""


class SoccerTournament(_Entrants, Table, tablename="soccer_tournament", db=DIALECT):
    """`domain.entrants.SoccerTournament`, found by number, by case-folded name."""


class SoccerMatch(Table, tablename="soccer_match", db=DIALECT):
    """`domain.soccer.SoccerMatch` in `body`, with the columns that it is found by. A season of a tournament
    has one match of a round and its teams."""

    id = Integer(primary_key=True)
    tournament_id = Integer()
    season = Text()
    round = Text()
    home_id = Integer()
    away_id = Integer()
    day = Text()
    status = Text()
    body = Json()


class NameTrigram(Table, tablename="name_trigram", db=DIALECT):
    """A trigram of the name of an entrant, whose `id` is its number in its table; the name has
    `trigrams` of them. The key is (entrant_table, trigram, id)."""

    entrant_table = Text(primary_key=True)
    trigram = Text()
    id = Integer()
    trigrams = Integer()


class ReferenceReport(Table, tablename="reference_report", db=DIALECT):
    """`domain.reference_reports.ImportReport` in `body`, with the columns that it is found by."""

    id = UUID(primary_key=True)
    at = BigInt()
    by = Text()
    name = Text()
    sha256 = Text()
    body = Json()


class ImportedFixture(Table, tablename="imported_fixture", db=DIALECT):
    """The match that a fixture became (`domain.reference_reports.Fixture`, in `body` as it was imported
    last)."""

    reference = Text(primary_key=True)
    match_id = UUID()
    body = Json()


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
