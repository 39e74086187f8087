"""What certification does to messages on their way, and to logins: bytes in, bytes out."""

import subprocess
import sys
from datetime import UTC, datetime

import pytest
from pamqp import commands, frame, header
from pamqp.body import ContentBody

from app.sandbox.certification.altering import altered, shifted
from app.sandbox.certification.deliveries import Delivery
from app.sandbox.certification.key_login import KeyLogin

BODY = b'<odds_change product="2" timestamp="1900000000123" event_id="od:match:1"><odds/></odds_change>'
AT = datetime(2030, 3, 17, 17, 46, 40, tzinfo=UTC)
KEY, URL = "mf_live_abc", "amqp://op-certification:se%2Fcret@127.0.0.1:5672/certification"


def delivery(piece: int = 1_000) -> Delivery:
    """A message in frames of so many bytes at most."""
    headers = {"timestamp_in_ms": 1900000000123, "x-seq": 7, "x-arrived-at": 1900000000100}
    properties = commands.Basic.Properties(headers=headers, timestamp=AT)
    frames = [frame.marshal(header.ContentHeader(0, len(BODY), properties), 1)]
    frames += [
        frame.marshal(ContentBody(BODY[begin : begin + piece]), 1) for begin in range(0, len(BODY), piece)
    ]
    return Delivery("ctag", "oddsfeed", "hi.-.live", headers, BODY, tuple(frames))


def read(found: Delivery) -> tuple[header.ContentHeader, bytes]:
    """What a client reads of its frames."""
    head = frame.unmarshal(found.frames[0])[2]
    assert isinstance(head, header.ContentHeader)
    body = b"".join(frame.unmarshal(each)[2].value for each in found.frames[1:])
    assert head.body_size == len(body)
    return head, body


@pytest.mark.parametrize("piece", [1_000, 16])
def test_no_frame_becomes_longer_than_those_of_the_broker(piece: int) -> None:
    longer = altered(delivery(piece), BODY * 3)
    assert read(longer)[1] == BODY * 3 == longer.body
    longest = max(len(each) for each in delivery(piece).frames[1:])
    assert max(len(each) for each in longer.frames[1:]) <= longest


@pytest.mark.parametrize("millis", [30_000, -30_000])
def test_every_time_of_a_message_is_shifted(millis: int) -> None:
    found = shifted(delivery(), millis)
    head, body = read(found)
    assert body == BODY.replace(b"1900000000123", b"%d" % (1900000000123 + millis))
    expected = {
        "timestamp_in_ms": 1900000000123 + millis,
        "x-seq": 7,
        "x-arrived-at": 1900000000100 + millis,
    }
    assert head.properties.headers == expected == found.headers
    assert (head.properties.timestamp - AT).total_seconds() * 1000 == millis


def started(response: str) -> bytes:
    return frame.marshal(commands.Connection.StartOk({"product": "an SDK"}, "PLAIN", response), 0)


def test_the_present_key_is_exchanged_for_the_login_and_nothing_else() -> None:
    login = KeyLogin(lambda: (KEY, URL))
    other = started("\0somebody\0password")
    assert login.translated((10, 11), other, 0) == other
    opened = frame.marshal(commands.Connection.Open("/oddinfeed/53"), 0)
    assert login.translated((10, 40), opened, 0) == opened
    own = frame.unmarshal(login.translated((10, 11), started(f"\0{KEY}\0"), 0))[2]
    assert own.response == "\0op-certification\0se/cret" and own.client_properties["product"] == "an SDK"
    assert frame.unmarshal(login.translated((10, 40), opened, 0))[2].virtual_host == "certification"
    named = frame.marshal(commands.Connection.Open("another"), 0)
    assert login.translated((10, 40), named, 0) == named
    declared = commands.Exchange.Declare(exchange="oddinfeed", exchange_type="topic", durable=True)
    assert frame.unmarshal(login.translated((40, 10), frame.marshal(declared, 1), 1))[2].passive


def test_numbers_in_headers_are_those_that_every_client_reads() -> None:
    """Also in a process that has loaded nothing else: unsigned ones end the connection of a client in Go."""
    code = "import app.sandbox.certification.altering, pamqp.encode as e; print(e.table_integer(40_000)[:1])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "b'I'\n"
