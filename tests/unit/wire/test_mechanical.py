"""Any JSON becomes well-formed XML with the same content."""

import importlib
import math
import pkgutil
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, get_args, get_origin

import inflection
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from app.wire import views
from app.wire.mechanical import ITEM, SINGULARS, name, render, singular
from app.wire.text import permitted

any_text = st.text(st.characters(exclude_categories=()), max_size=12)
hostile = any_text | st.sampled_from(["<&\"'\t\n\r\x00", "😀", ""])
scalars = st.none() | st.booleans() | st.integers() | st.floats() | hostile
names = st.from_regex("[a-z][a-z_]{0,8}[a-z]", fullmatch=True).filter(lambda key: not key.startswith("xml"))


def json(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=20,
    )


def absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def expected_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return permitted(str(value))


def assert_says(node: Any, value: Any) -> None:
    """`node` holds `value`; keys are XML names already."""
    if isinstance(value, dict):
        flat = {
            key: item for key, item in value.items() if not isinstance(item, dict | list) and not absent(item)
        }
        assert set(node.attrib) == flat.keys()
        for key, item in flat.items():
            assert_scalar(node.get(key), item)
        nested = [(key, item) for key, item in value.items() if isinstance(item, dict | list)]
        assert [child.tag for child in node] == [key for key, _ in nested]
        for child, (_, item) in zip(node, nested, strict=True):
            assert_says(child, item)
    elif isinstance(value, list):
        present = [item for item in value if not absent(item)]
        assert {child.tag for child in node} <= {singular(node.tag)}
        for child, item in zip(node, present, strict=True):
            assert_says(child, item)
    elif not absent(value):
        assert_scalar(node.text or "", value)


def assert_scalar(text: str, value: Any) -> None:
    if isinstance(value, float):
        assert "e" not in text.lower()
        assert Decimal(text) == Decimal(repr(value))
    else:
        assert text == expected_text(value)


@given(json(hostile))
def test_any_json_is_well_formed(view: Any) -> None:
    etree.fromstring(render(view, "response"))


@given(json(names))
def test_nothing_is_lost_or_invented(view: Any) -> None:
    root = etree.fromstring(render(view, "response"))
    assert root.tag == "response"
    assert_says(root, view)


@given(hostile)
def test_every_key_becomes_a_name(key: str) -> None:
    etree.fromstring(f"<{name(key)}/>".encode())
    etree.fromstring(f"<{singular(name(key))}/>".encode())


def test_rules_by_example() -> None:
    class Team(msgspec.Struct):
        name: str
        rank: int | None
        tags: tuple[str, ...]

    class View(msgspec.Struct):
        id: int
        live: bool
        odds: Decimal
        demo_url: str | None | msgspec.UnsetType
        teams: tuple[Team, ...]
        meta: dict[str, int]

    view = View(
        7, True, Decimal("1.85"), msgspec.UNSET, (Team("A & B", None, ("x",)), Team("C", 3, ())), {"count": 2}
    )
    assert render(view, "match").decode() == (
        '<match id="7" live="true" odds="1.85">'
        '<teams><team name="A &amp; B"><tags><tag>x</tag></tags></team>'
        '<team name="C" rank="3"><tags/></team></teams>'
        '<meta count="2"/></match>'
    )


def test_keys_that_become_the_same_name_are_distinguished() -> None:
    root = etree.fromstring(render({"a b": 1, "a_b": 2, "a:b": 3}, "r"))
    assert sorted(root.attrib.values()) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("plural", "item"),
    [
        ("matches", "match"),
        ("statuses", "status"),
        ("entries", "entry"),
        ("picked_maps", "picked_map"),
        ("team_a_map_stats", "team_a_map_stat"),
        ("series", ITEM),
        *SINGULARS.items(),
    ],
)
def test_items_are_named_in_the_singular(plural: str, item: str) -> None:
    assert singular(plural) == item


@pytest.mark.parametrize("plural", SINGULARS)
def test_every_exception_is_needed(plural: str) -> None:
    assert inflection.singularize(plural) != SINGULARS[plural]


def lists_in_views() -> Iterator[str]:
    for module in pkgutil.iter_modules(views.__path__, f"{views.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            ours = isinstance(value, type) and value.__module__ == module.name
            if ours and issubclass(value, msgspec.Struct):
                for field in msgspec.structs.fields(value):
                    kinds = [field.type, *get_args(field.type)]
                    if any(get_origin(kind) in (tuple, list) for kind in kinds):
                        yield field.encode_name


def test_every_list_that_we_show_has_a_singular_or_an_exception() -> None:
    for plural in set(lists_in_views()):
        item = inflection.singularize(plural)
        assert plural in SINGULARS or (item != plural and inflection.pluralize(item) == plural), (
            f"{plural}: add its singular to app.wire.mechanical.SINGULARS"
        )
