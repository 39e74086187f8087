from piccolo.columns import Integer, Text
from piccolo.table import Table

from app.store.tables.columns import Json
from app.store.tables.dialect import DIALECT


class Category(Table, tablename="category", db=DIALECT):
    """`domain.entrants.Category`, found by number, by case-folded name."""

    id = Integer(primary_key=True)
    folded = Text()
    parent = Integer(null=True, default=None)
    body = Json()


class Tournament(Table, tablename="tournament", db=DIALECT):
    """`domain.entrants.Tournament`, found by number, by case-folded name and by its category."""

    id = Integer(primary_key=True)
    folded = Text()
    parent = Integer(null=True, default=None)
    body = Json()


class Team(Table, tablename="team", db=DIALECT):
    """`domain.entrants.Competitor`, found by number, by case-folded name."""

    id = Integer(primary_key=True)
    folded = Text()
    parent = Integer(null=True, default=None)
    body = Json()


class Player(Table, tablename="player", db=DIALECT):
    """`domain.entrants.Player`, found by number, by case-folded name and by the team."""

    id = Integer(primary_key=True)
    folded = Text()
    parent = Integer(null=True, default=None)
    body = Json()


class SoccerCompetitor(Table, tablename="soccer_competitor", db=DIALECT):
    """`domain.entrants.SoccerCompetitor`, found by number, by case-folded name."""

    id = Integer(primary_key=True)
    folded = Text()
    parent = Integer(null=True, default=None)
    body = Json()


class SoccerTournament(Table, tablename="soccer_tournament", db=DIALECT):
    """`domain.entrants.SoccerTournament`, found by number, by case-folded name."""

    id = Integer(primary_key=True)
    folded = Text()
    parent = Integer(null=True, default=None)
    body = Json()
