"""Selections as clients send them."""

import pytest

from app.kit.errors import BadRequest, Invalid
from app.wire.xml.custom_bet import Selection, parse_selections

NAMESPACE = 'xmlns="http://schemas.example/custombet/v1/endpoints"'
ONE = '<selection id="od:match:1" market_id="8" specifiers="map=1|threshold=21.5" outcome_id="1" odds="1.9"/>'
OTHER = '<selection id="od:match:2" market_id="10" outcome_id="1"/>'
READ = [Selection("od:match:1", 8, "map=1|threshold=21.5"), Selection("od:match:2", 10, "")]


def codes(body: str, least: int = 1) -> dict[tuple[str | int, ...], str]:
    """What is wrong with a request, by place."""
    with pytest.raises(Invalid) as refused:
        parse_selections(body.encode(), least)
    return {field.loc: field.type for field in refused.value.fields}


@pytest.mark.parametrize("head", ["", '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'])
@pytest.mark.parametrize("space", ["", f" {NAMESPACE}"])
def test_both_shapes_with_and_without_a_namespace(head: str, space: str) -> None:
    plain = f"{head}<selections{space}>\n{ONE}{OTHER}</selections>"
    assert parse_selections(plain.encode(), 2) == READ
    markets = [
        text.replace("selection", "market").replace(f' id="od:match:{at}"', "")
        for at, text in enumerate((ONE, OTHER), 1)
    ]
    events = "".join(
        f'<selection id="od:match:{at}">{text}</selection>' for at, text in enumerate(markets, 1)
    )
    assert parse_selections(f"{head}<filterSelections{space}>{events}</filterSelections>".encode(), 1) == READ


def test_another_prefix_and_another_encoding() -> None:
    text = f"<c:selections {NAMESPACE.replace('xmlns', 'xmlns:c')}><c:{ONE[1:]}</c:selections>"
    assert parse_selections(text.encode("utf-16"), 1) == READ[:1]


def test_each_wrong_selection_is_named() -> None:
    wrong = (
        '<selection market_id="8" outcome_id="1"/>'
        '<selection id="x" market_id="eight" outcome_id="1"/>'
        '<selection id="x" market_id="9999999999" outcome_id="1"/>'
        '<selection id="x" market_id="8" outcome_id="2"/>'
        '<selection id="x" market_id="8"/>'
    )
    assert codes(f"<selections>{ONE}{wrong}</selections>") == {
        ("body", "selection", 1, "id"): "missing",
        ("body", "selection", 2, "market_id"): "market_id",
        ("body", "selection", 3, "market_id"): "market_id",
        ("body", "selection", 4, "outcome_id"): "unknown_outcome",
        ("body", "selection", 5, "outcome_id"): "missing",
    }
    nameless = (
        '<filterSelections><selection><market market_id="8" outcome_id="1"/></selection></filterSelections>'
    )
    assert codes(nameless) == {("body", "selection", 0, "id"): "missing"}


def test_too_few_and_too_many() -> None:
    assert codes("<selections/>") == {("body",): "number_of_selections"}
    assert codes(f"<selections>{ONE}</selections>", 2) == {("body",): "number_of_selections"}
    assert codes(f"<selections>{ONE * 11}</selections>") == {("body",): "number_of_selections"}


@pytest.mark.parametrize(
    "body",
    ["<html/>", "<selections><x/></selections>", f"<selections><selection>{ONE}</selection></selections>"],
)
def test_what_is_no_selection_is_refused(body: str) -> None:
    assert set(codes(body).values()) == {"unknown_element"}


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"<selections>",
        b"<selections></selection>",
        b"\xff\xfe\xfd",
        b'<?xml version="1.0" encoding="x-none"?><selections/>',
        f'{BOMB}<selections><selection id="&b;"/></selections>'.encode(),
        b'<!DOCTYPE selections SYSTEM "file:///etc/passwd"><selections/>',
        b'<selections><selection id="&other;"/></selections>',
    ],
)
def test_what_is_no_xml_and_document_types_are_refused(body: bytes) -> None:
    with pytest.raises(BadRequest):
        parse_selections(body, 1)
