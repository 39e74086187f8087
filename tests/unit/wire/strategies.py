"""Arbitrary valid models: our structs' shapes, with the facets that xsdata read from the schemas."""

import re
from decimal import Decimal
from enum import Enum
from types import UnionType
from typing import Any, get_args, get_origin

import msgspec
from hypothesis import strategies as st

from app.wire.text import permitted
from tests.unit.wire.reference import Reference, xml_names

HOSTILE = (
    "<&\"'>",
    "]]><!--",
    "\x00\x01\x1f\x7f\x85",
    "tab\tline\nreturn\r",
    "😀🏆\U0010ffff",
    "\u202eright to left\u200f",
    "\ud800lone\udfff",
    "\ufffe\uffff",
    "&amp;&#9;",
    "é" * 10_000,
)
text = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=()), max_size=40))


def model(struct: type[msgspec.Struct], reference: Reference) -> st.SearchStrategy[Any]:
    """Valid values of `struct`, its children included."""
    twin = reference.twin(struct)
    hints, names = twin.__annotations__, xml_names(twin)
    fields = {}
    for field in msgspec.structs.fields(struct):
        other = names[field.name.removesuffix("_")]
        facets = dict(other.metadata) | {"time": "XmlDateTime" in str(hints[other.name])}
        fields[field.name] = _value(field.type, facets, reference)
    return st.builds(struct, **fields)


def _value(kind: Any, facets: dict[str, Any], reference: Reference) -> st.SearchStrategy[Any]:
    if get_origin(kind) is UnionType or type(None) in get_args(kind):
        (present,) = (item for item in get_args(kind) if item is not type(None))
        return st.none() | _value(present, facets, reference)
    if get_origin(kind) is tuple:
        item = _value(get_args(kind)[0], facets, reference)
        return st.lists(item, min_size=facets.get("min_occurs", 0), max_size=3).map(tuple)
    if issubclass(kind, msgspec.Struct):
        return model(kind, reference)
    return _scalar(kind, facets)


def _scalar(kind: type, facets: dict[str, Any]) -> st.SearchStrategy[Any]:
    if issubclass(kind, Enum):
        return st.sampled_from(kind)
    if kind is bool:
        return st.booleans()
    if facets["time"]:
        return st.integers(0, 4_000_000_000).map(lambda seconds: seconds * 1000)
    if kind is int:
        return st.integers(facets.get("min_inclusive", -(2**31)), facets.get("max_inclusive", 2**31 - 1))
    if kind is Decimal:
        return _decimals(facets)
    return _matching(facets["pattern"]) if "pattern" in facets else text if kind is str else st.dates()


def _decimals(facets: dict[str, Any]) -> st.SearchStrategy[Decimal]:
    places = facets.get("fraction_digits", 6)
    low, high = facets.get("min_inclusive", Decimal(-(10**6))), facets.get("max_inclusive", Decimal(10**6))
    quantised = st.decimals(low, high, places=places)
    return quantised | quantised.map(Decimal.normalize) if places else quantised


def _matching(pattern: str) -> st.SearchStrategy[str]:
    """Text that still matches once forbidden characters are gone."""
    return st.from_regex(re.compile(pattern), fullmatch=True).filter(
        lambda value: re.fullmatch(pattern, permitted(value)) is not None
    )
