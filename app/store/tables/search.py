from piccolo.columns import Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class NamePiece(Table, tablename="name_piece", db=DIALECT):
    """A trigram (`piece`) of a name in the entrants' table `shelf`; the name has `pieces` of them. The key is
    (shelf, piece, id)."""

    shelf = Text(primary_key=True)
    piece = Text()
    id = Integer()
    pieces = Integer()
