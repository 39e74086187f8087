"""Plain xsdata as the reference: its own dataclasses for our schemas, compared with our structs."""

import dataclasses
from collections.abc import Iterator
from datetime import date
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
from lxml import etree
from xsdata.formats.dataclass.parsers import XmlParser
from xsdata.models.datatype import XmlDate, XmlDateTime

from app.wire.text import permitted
from scripts.bench.xml_subjects import reference
from tests.golden.files import SCHEMAS

MODULES = ("common", "feed", "facade")


class Reference:
    """The dataclasses that xsdata generates from `schemas/`, and lxml's validators of the same files."""

    def __init__(self, directory: Path) -> None:
        package = reference(directory).__package__
        self.modules = {name: import_module(f"{package}.{name}") for name in present()}
        self.schemas = {name: etree.XMLSchema(etree.parse(SCHEMAS / f"{name}.xsd")) for name in present()}
        self._parser = XmlParser()

    def twin(self, struct: type[msgspec.Struct]) -> Any:
        """The dataclass of the same schema type as `struct`."""
        return getattr(self.modules[struct.__module__.rpartition(".")[2]], struct.__name__)

    def parse(self, document: bytes, struct: type[msgspec.Struct]) -> Any:
        return self._parser.from_bytes(document, self.twin(struct))

    def validate(self, document: bytes) -> None:
        """Raises when neither the feed's nor the facade's schema explains `document`."""
        tree = etree.fromstring(document)
        errors = [schema.error_log for schema in self.schemas.values() if not schema.validate(tree)]
        if len(errors) == len(self.schemas):
            raise AssertionError(f"{document[:400]!r}: {[str(log) for log in errors]}")


def present() -> list[str]:
    return [name for name in MODULES if (SCHEMAS / f"{name}.xsd").exists()]


def generated() -> dict[str, ModuleType]:
    """Our generated modules by schema."""
    return {name: import_module(f"app.wire.generated.{name}") for name in present()}


def structs() -> dict[str, type[msgspec.Struct]]:
    """Every generated struct by name."""
    return {
        name: value
        for module in generated().values()
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, msgspec.Struct)
        and value.__module__ == module.__name__
    }


def roots() -> Iterator[tuple[type[msgspec.Struct], Any]]:
    """Every root's struct and the function that writes it."""
    for module in generated().values():
        for name, value in vars(module).items():
            if name.startswith("write_") and value.__module__ == module.__name__:
                yield value.__annotations__["node"], value


def xml_names(dataclass: Any) -> dict[str, dataclasses.Field[Any]]:
    """The dataclass's fields by XML name."""
    return {item.metadata.get("name", item.name): item for item in dataclasses.fields(dataclass)}


def assert_same(ours: Any, theirs: Any, path: str = "") -> None:
    """`theirs`, parsed by xsdata, holds what we wrote, after the documented clean-up of text."""
    if isinstance(ours, msgspec.Struct):
        names = xml_names(theirs)
        fields = {name.removesuffix("_"): name for name in ours.__struct_fields__}
        assert fields.keys() == names.keys(), path
        for name, ours_name in fields.items():
            assert_same(getattr(ours, ours_name), getattr(theirs, names[name].name), f"{path}/{name}")
    elif isinstance(ours, tuple):
        assert len(ours) == len(theirs), path
        for index, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(mine, other, f"{path}[{index}]")
    else:
        assert plain(theirs, type(ours)) == plain(ours, type(ours)), path


def plain(value: Any, kind: type) -> Any:
    """A scalar of either model in one spelling; `kind` is what our struct holds."""
    if isinstance(value, Enum):
        return value.value
    if kind is bool and isinstance(value, str):
        return value == "1"
    if isinstance(value, XmlDateTime):
        return int(value.to_datetime().timestamp()) * 1000
    if isinstance(value, XmlDate):
        return date(value.year, value.month, value.day)
    return permitted(value) if isinstance(value, str) else value
