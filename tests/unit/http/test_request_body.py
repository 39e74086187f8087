"""Bodies are read to the letter, and what does not fit is named."""

import gzip
from typing import Annotated, Any

import msgspec
import pytest
from litestar import Litestar, post
from litestar.params import JSONBody
from litestar.testing import TestClient
from msgspec import Meta

from app.http import errors
from app.http.request_data import StrictRequest


class Inner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    flag: bool = True


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    number: Annotated[int, Meta(ge=0)]
    inner: tuple[Inner, ...] = ()
    text: str = ""


@post("/", status_code=200, request_max_body_size=200_000)
async def handler(data: JSONBody[Example]) -> int:
    return data.number


@pytest.fixture(scope="module")
def client() -> Any:
    app = Litestar(
        [handler], request_class=StrictRequest, exception_handlers=errors.HANDLERS, openapi_config=None
    )
    with TestClient(app) as client:
        yield client


def test_a_body_that_fits_arrives(client: Any) -> None:
    assert client.post("/", content=b'{"number": 7, "inner": [{"flag": false}]}').json() == 7
    assert client.post("/", content=b'{"number": 7.0}').json() == 7


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        (b'{"number": "7"}', ["body", "number"]),
        (b'{"number": 7.5}', ["body", "number"]),
        (b'{"number": -1}', ["body", "number"]),
        (b'{"number": 1, "inner": [{}, {"flag": 0}]}', ["body", "inner", 1, "flag"]),
        (b'{"number": 1, "inner": [{"x": 0}]}', ["body", "inner", 0, "x"]),
        (rb'{"number": 1, "text": "a\u0000b"}', ["body", "text"]),
        (rb'{"number": 1, "inner": [{}, {"\u0000x": 1}]}', ["body", "inner", 1, "x"]),
        (b"{}", ["body", "number"]),
        (b"[]", ["body"]),
    ],
)
def test_what_does_not_fit_is_named(client: Any, body: bytes, loc: list[str | int]) -> None:
    answer = client.post("/", content=body)
    assert answer.status_code == 422
    (field,) = answer.json()["detail"]
    assert field["loc"] == loc and field["msg"] and "$" not in field["msg"]


def test_an_encoded_body_is_refused_with_what_to_send(client: Any) -> None:
    answer = client.post("/", content=gzip.compress(b'{"number": 7}'), headers={"Content-Encoding": "gzip"})
    (field,) = answer.json()["detail"]
    assert (answer.status_code, field["loc"]) == (422, ["header", "content-encoding"])
    assert client.post("/", content=b'{"number": 7}', headers={"Content-Encoding": "identity"}).json() == 7


def test_a_body_that_is_too_large_is_refused_with_the_limit(client: Any) -> None:
    answer = client.post("/", content=b" " * 200_001)
    assert answer.status_code == 413 and "200000 bytes" in answer.json()["detail"]


def test_a_nul_in_a_large_body_is_refused_without_a_search(client: Any) -> None:
    body = b'{"number": 7, "text": "' + b"a" * 100_000 + rb'\u0000"}'
    (field,) = client.post("/", content=body).json()["detail"]
    assert (field["loc"], field["type"]) == (["body"], "control_character")


def test_in_a_large_body_whole_numbers_are_written_as_such(client: Any) -> None:
    padded = b'{"number": %s, "text": "' + b"a" * 100_000 + b'"}'
    assert client.post("/", content=padded % b"7").json() == 7
    (field,) = client.post("/", content=padded % b"7.0").json()["detail"]
    assert field["loc"] == ["body", "number"]


def test_a_refusal_names_a_few_fields(client: Any) -> None:
    body = b'{"number": 7, "inner": [' + b",".join([rb'"\u0000"'] * 1000) + b"]}"
    assert 1 < len(client.post("/", content=body).json()["detail"]) <= 20


CONTROLS = ("\x01", "\x1b", "\x08", "\x7f", "\x85", "\x9b", "\u061c", "\u200e", "\u202e", "\u2067", "\u2069")


def test_characters_that_steer_a_terminal_or_the_direction_of_text_are_refused(client: Any) -> None:
    for character in CONTROLS:
        for text in (msgspec.json.encode("a" + character).decode(), f'"a\\u{ord(character):04x}"'):
            answer = client.post("/", content=f'{{"number": 7, "text": {text}}}'.encode())
            assert answer.status_code == 422, (character.encode(), text)
            assert answer.json()["detail"][0]["loc"] == ["body", "text"]


def test_only_such_a_character_is_one(client: Any) -> None:
    assert client.post("/", content=rb'{"number": 7, "text": "a\\u0000b \\u202e \t\n"}').json() == 7
    harmless = '{"number": 7, "text": "Ünïcode — „ok“ 日本 \u200d 👩"}'
    assert client.post("/", content=harmless.encode()).json() == 7


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "application/x-www-form-urlencoded"])
def test_a_body_that_says_that_it_is_no_json_is_refused(client: Any, kind: str) -> None:
    answer = client.post("/", content=b'{"number": 7}', headers={"Content-Type": kind})
    assert answer.status_code == 422 and answer.json()["detail"][0]["loc"] == ["header", "content-type"]


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_a_body_that_says_that_it_is_json_is_read(client: Any, kind: str) -> None:
    assert client.post("/", content=b'{"number": 7}', headers={"Content-Type": kind}).json() == 7


@pytest.mark.parametrize("body", [b"{", b"\xff", b"<given/>", rb'{"text": "\u0000'])
def test_what_is_no_json_is_a_bad_request(client: Any, body: bytes) -> None:
    assert client.post("/", content=body).status_code == 400
