from piccolo.columns import Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class NameTrigram(Table, tablename="name_piece", db=DIALECT):
    """A trigram (`piece`) of the name of an entrant: `shelf` is the entrant's table, `id` its number there;
    the name has `pieces` trigrams. The key is (shelf, piece, id)."""

    shelf = Text(primary_key=True)
    piece = Text()
    id = Integer()
    pieces = Integer()
