"""What the page about data of people says of the tables, and what an erasure covers, is complete."""

import re
from pathlib import Path

from piccolo.columns import Text

from app.store.erasure import PLACES
from app.store.piccolo_app import APP_CONFIG

PAGE = Path(__file__).resolve().parents[3] / "docs" / "privacy.md"
#: Columns that are called like an actor's and have no person in them: a market is settled by the engine or an
#: operator, without a name; reference prices come with a key or from the command line.
NOBODY = {"market.settled_by", "reference_price.received_by"}


def test_the_page_says_of_every_table_whether_it_has_data_of_people() -> None:
    named = re.findall(r"`([a-z_]+)`", PAGE.read_text())
    tables = {table._meta.tablename for table in APP_CONFIG.table_classes}
    assert tables - set(named) == set()


def test_an_erasure_covers_every_column_that_names_an_actor() -> None:
    columns = {
        f"{table._meta.tablename}.{column._meta.db_column_name}"
        for table in APP_CONFIG.table_classes
        for column in table._meta.columns
        if isinstance(column, Text) and re.fullmatch(r"actor|person|by|\w+_by", column._meta.db_column_name)
    }
    covered = {
        f"{table._meta.tablename}.{column._meta.db_column_name}"
        for table, places in PLACES.items()
        for column in places
    }
    assert columns - NOBODY <= covered
    assert columns >= NOBODY
