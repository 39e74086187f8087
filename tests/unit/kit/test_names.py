"""Names in input are one line that is not blank, and a refusal says so."""

import re

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.commands.match_commands import RenameTeam
from app.kit.csv_rows import csv_rows
from app.kit.errors import Invalid
from app.kit.names import NAME, Name, explained


class Row(msgspec.Struct, frozen=True):
    name: Name


TEXTS = st.text(st.sampled_from("aé \t\n\r\u2028\u00a0"), max_size=6)


@given(TEXTS)
def test_a_name_is_one_line_and_not_blank(text: str) -> None:
    right = bool(text.strip()) and not set(text) & set("\t\n\r")
    assert (re.search(NAME, text) is not None) is right


@given(TEXTS)
def test_the_document_of_the_api_admits_the_same_names(text: str) -> None:
    schema = msgspec.json.schema(RenameTeam)["$defs"]["RenameTeam"]["properties"]["name"]
    assert jsonschema_rs.is_valid(schema, text) is (re.search(NAME, text) is not None)


@pytest.mark.parametrize("text", ["", " ", "a\n", "a\tb", "\u00a0"])
def test_a_refusal_says_what_a_name_is(text: str) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert(text, Name)
    assert "one line that is not blank" in explained(str(refused.value)) or not text


def test_a_cell_is_no_name_either() -> None:
    with pytest.raises(Invalid, match="one line that is not blank"):
        csv_rows(b'name\n"two\nlines"\n', Row, ("body",))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_of_csv_end_as_any_system_ends_them(end: str) -> None:
    assert csv_rows(f"name{end}Alder{end}Birch{end}".encode(), Row, ("body",)) == [Row("Alder"), Row("Birch")]
