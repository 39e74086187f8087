"""Which format an `Accept` header asks for."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.http.media import Format, wanted
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
        # What cannot be read is passed over.
        (" , ", JSON),
        ("application/xml;q=-1, text/xml;q=0.2", XML),
        (",,;;q=1,application/xml,", XML),
        ("\x00\xff/, application/xml", XML),
    ],
)
def test_what_an_accept_header_asks_for(accept: str, format_: Format) -> None:
    assert wanted([(b"accept", accept.encode("latin-1"))]) is format_


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
        # Nothing in it can be read.
        "xml",
        "nonsense",
        "application/xml;q=high",
        "application/xml;q=7",
        "*/xml",
        "appl*/xml, application/x*",
    ],
)
def test_neither_will_do(accept: str) -> None:
    with pytest.raises(NotAcceptable):
        wanted([(b"accept", accept.encode())])


def test_several_headers_are_one_list() -> None:
    headers = [(b"accept", b"application/json;q=0.2"), (b"host", b"x"), (b"accept", b"application/xml;q=0.3")]
    assert wanted(headers) is XML
    assert wanted([(b"host", b"x")]) is JSON


@given(st.binary(max_size=80))
def test_any_bytes_are_an_answer(accept: bytes) -> None:
    with suppress(NotAcceptable):
        assert wanted([(b"accept", accept)]) in Format


@given(
    st.permutations(
        ["application/xml;q=0.7", "application/json;q=0.6", "*/*;q=0.9", "text/plain", "application/*;q=0.8"]
    )
)
def test_order_does_not_matter(ranges: list[str]) -> None:
    assert wanted([(b"accept", ", ".join(ranges).encode())]) is XML
