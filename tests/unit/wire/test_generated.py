"""Every generated writer, against plain xsdata and lxml, with arbitrary valid models."""

import typing
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from tests.unit.wire.reference import Reference, assert_same, roots, structs
from tests.unit.wire.strategies import model

ROOTS = {struct.__name__: (struct, write) for struct, write in roots()}


@pytest.mark.parametrize("name", ROOTS)
def test_what_we_write_is_valid_and_reads_back_the_same(name: str, reference: Reference) -> None:
    """Without namespaces, which existing clients refuse, and without a doctype, which all do."""
    struct, write = ROOTS[name]

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(model(struct, reference))
    def holds(node: Any) -> None:
        document = write(node)
        root = document.partition(b">")[0]
        assert root.startswith(b"<") and not root.startswith((b"<?", b"<!")) and b"xmlns" not in root
        reference.validate(document)
        assert_same(node, reference.parse(document, struct))

    holds()


def test_every_struct_is_reached_from_a_root() -> None:
    reached: set[str] = set()

    def visit(kind: Any) -> None:
        for part in typing.get_args(kind):
            visit(part)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind.__name__ not in reached:
            reached.add(kind.__name__)
            for field in msgspec.structs.fields(kind):
                visit(field.type)

    for struct, _ in ROOTS.values():
        visit(struct)
    assert reached == structs().keys()


def test_models_are_documented_frozen_values() -> None:
    for struct in structs().values():
        assert struct.__struct_config__.frozen, struct
        assert struct.__doc__, struct
        for name in struct.__struct_fields__:
            assert f"{name}: " in struct.__doc__, (struct, name)


def test_an_empty_list_is_an_empty_element() -> None:
    struct, write = ROOTS["OddsChange"]
    node = msgspec.convert({"product": 2, "event_id": "od:match:1", "timestamp": 1, "odds": {}}, struct)
    root = b'<odds_change product="2" event_id="od:match:1" timestamp="1">'
    assert write(node) == root + b"<odds/></odds_change>"
