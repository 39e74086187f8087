"""Golden files: what the builders write now is what they wrote before, and it is valid."""

import pytest
from lxml import etree

from app.domain.ids import match_number
from tests.golden.files import DIRECTORY, SUFFIX, golden
from tests.golden.samples import SAMPLES
from tests.unit.wire.reference import Reference, roots


@pytest.mark.parametrize("name", SAMPLES)
def test_builder_writes_the_golden_file(name: str) -> None:
    assert SAMPLES[name]() == golden(name), "if you meant it: python -m tests.golden"


@pytest.mark.parametrize("name", SAMPLES)
def test_golden_file_is_valid(name: str, reference: Reference) -> None:
    reference.validate(golden(name))


@pytest.mark.parametrize("name", SAMPLES)
def test_golden_file_is_within_what_clients_accept(name: str) -> None:
    """One SDK refuses more than 512 names, names over 128 and values over 16,384 characters."""
    root = etree.fromstring(golden(name))
    names = {node.tag for node in root.iter()} | {key for node in root.iter() for key in node.attrib}
    assert len(names) <= 512
    assert max(map(len, names)) <= 128
    assert all(len(value) <= 16_384 for node in root.iter() for value in node.attrib.values())
    event = root.get("event_id")
    assert event is None or match_number(event) is not None


def test_every_golden_file_has_a_sample() -> None:
    assert {path.stem for path in DIRECTORY.glob(f"*{SUFFIX}")} == SAMPLES.keys()


def test_every_root_has_a_golden_file() -> None:
    written = {etree.fromstring(golden(name)).tag for name in SAMPLES}
    assert written == {write.__name__.removeprefix("write_") for _, write in roots()}
