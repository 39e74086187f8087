from piccolo.columns import Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class NameTrigram(Table, tablename="name_trigram", db=DIALECT):
    """A trigram of the name of an entrant, whose `id` is its number in its table; the name has
    `trigrams` of them. The key is (entrant_table, trigram, id)."""

    entrant_table = Text(primary_key=True)
    trigram = Text()
    id = Integer()
    trigrams = Integer()
