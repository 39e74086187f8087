from piccolo.columns import Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class NameTrigram(Table, tablename="name_piece", db=DIALECT):
    """A trigram of the name of an entrant, whose `id` is its number in its table; the name has
    `trigrams` of them. The key is (entrant_table, trigram, id)."""

    entrant_table = Text(primary_key=True, db_column_name="shelf")
    trigram = Text(db_column_name="piece")
    id = Integer()
    trigrams = Integer(db_column_name="pieces")
