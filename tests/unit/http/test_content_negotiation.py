"""Which format an `Accept` header selects."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.http.representation import Format, negotiate
from app.kit.errors import NotAcceptable

JSON, XML = Format.JSON, Format.XML


@pytest.mark.parametrize(
    ("accept", "format_"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("*", JSON),
        ("application/*", JSON),
        ("application/json", JSON),
        ("application/xml", XML),
        ("Application/XML", XML),
        ("text/xml", XML),
        ("text/*", XML),
        ("text/xml; charset=utf-8", XML),
        ("application/json, application/xml", JSON),
        ("application/xml, application/json", JSON),
        ("application/xml, */*", XML),
        ("application/xml;q=0.9, */*;q=0.8", XML),
        ("application/xml;q=0.5, application/json;q=0.6", JSON),
        ("application/xml;q=0.6, application/json;q=0.5", XML),
        ("application/xml ; q=0.6 , application/json ; q=0.5", XML),
        ("application/json;q=0, */*", XML),
        ("application/json;q=0, application/*", XML),
        ("application/json;q=0.0, application/*;q=0.1", XML),
        ("application/xml;q=0, */*", JSON),
        ("application/xml;q=0, text/xml", XML),
        ("text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", XML),
        ("text/html, image/gif, *; q=.2, */*; q=.2", JSON),
        ("application/xml;q=0.001", XML),
        ("application/xml;version=1;q=0.1, application/json;q=0.05", XML),
        ("application/xml;q=1.000", XML),
        # Malformed ranges are ignored.
        (" , ", JSON),
        ("application/xml;q=-1, text/xml;q=0.2", XML),
        (",,;;q=1,application/xml,", XML),
        ("\x00\xff/, application/xml", XML),
    ],
)
def test_the_format_that_an_accept_header_selects(accept: str, format_: Format) -> None:
    assert negotiate([(b"accept", accept.encode("latin-1"))]) is format_


@pytest.mark.parametrize(
    ("accept", "format_"),
    [
        ("text/csv", Format.CSV),
        ("text/csv; header=present", Format.CSV),
        ("text/csv, */*;q=0.1", Format.CSV),
        ("text/csv, application/json", JSON),
        ("application/json;q=0.5, text/csv;q=0.6", Format.CSV),
        ("text/*", XML),
        ("text/xml;q=0, text/*", Format.CSV),
        ("*/*", JSON),
        ("", JSON),
    ],
)
def test_csv_is_a_format_where_a_route_sends_it(accept: str, format_: Format) -> None:
    headers = [(b"accept", accept.encode())]
    assert negotiate(headers, Format.CSV) is format_
    if accept == "text/csv":
        with pytest.raises(NotAcceptable):
            negotiate(headers)


@pytest.mark.parametrize(
    "accept",
    [
        "text/html",
        "image/*",
        "application/json;q=0, application/xml;q=0",
        "*/*;q=0",
        "application/*;q=0, text/plain",
        "application/json;q=0, application/xml;q=0, */*",
        "application/vnd.api+json, application/atom+xml",
        # Every range is malformed.
        "xml",
        "nonsense",
        "application/xml;q=high",
        "application/xml;q=7",
        "*/xml",
        "appl*/xml, application/x*",
    ],
)
def test_neither_format_is_acceptable(accept: str) -> None:
    with pytest.raises(NotAcceptable):
        negotiate([(b"accept", accept.encode())])


def test_several_headers_are_one_list() -> None:
    headers = [(b"accept", b"application/json;q=0.2"), (b"host", b"x"), (b"accept", b"application/xml;q=0.3")]
    assert negotiate(headers) is XML
    assert negotiate([(b"host", b"x")]) is JSON


@given(st.binary(max_size=80))
def test_any_bytes_select_a_format_or_none(accept: bytes) -> None:
    with suppress(NotAcceptable):
        assert negotiate([(b"accept", accept)]) in Format


@given(
    st.permutations(
        ["application/xml;q=0.7", "application/json;q=0.6", "*/*;q=0.9", "text/plain", "application/*;q=0.8"]
    )
)
def test_order_does_not_matter(ranges: list[str]) -> None:
    assert negotiate([(b"accept", ", ".join(ranges).encode())]) is XML
