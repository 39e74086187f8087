from piccolo.columns import Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class NamePiece(Table, tablename="name_piece", db=DIALECT):
    """Three letters of a name on a shelf, which has so many such `pieces`; the key is (shelf, piece, id)."""

    shelf = Text(primary_key=True)
    piece = Text()
    id = Integer()
    pieces = Integer()
