"""What the templates see: structs, enumerations and fields, reduced from xsdata's classes."""

from collections.abc import Callable, Iterable
from typing import Literal

import msgspec
from xsdata.codegen.exceptions import CodegenError
from xsdata.codegen.models import Attr, Class
from xsdata.models.enums import DataType, Tag

Kind = Literal["text", "integer", "decimal", "flag", "boolean", "time", "date", "enum", "struct"]

#: The types with a function that takes rendered children, which callers cache.
_ASSEMBLED = ("odds_change", "oddsList")
_FLAG_PATTERN = "[01]"
_KINDS: dict[DataType, Kind] = {
    DataType.STRING: "text",
    DataType.INT: "integer",
    DataType.LONG: "integer",
    DataType.INTEGER: "integer",
    DataType.DECIMAL: "decimal",
    DataType.BOOLEAN: "boolean",
    DataType.DATE_TIME: "time",
    DataType.DATE: "date",
}
_PYTHON = {
    "text": "str",
    "integer": "int",
    "decimal": "Decimal",
    "flag": "bool",
    "boolean": "bool",
    "time": "int",
    "date": "date",
}


class Names(msgspec.Struct, frozen=True):
    """How schema names become Python names: xsdata's own conventions, passed by the plugin."""

    type: Callable[[str], str]
    field: Callable[[str], str]
    constant: Callable[[str], str]
    function: Callable[[str], str]


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One attribute or child element of a struct.

    `type` annotates a single value. For an `enum`, `helper` names its table of texts, for a `struct` its
    renderer, which wants the element's name as well if `named`. A `leaf` is written in place.
    """

    name: str
    tag: str
    kind: Kind
    element: bool
    type: str
    required: bool
    many: bool
    helper: str = ""
    named: bool = False
    leaf: "Struct | None" = None
    doc: str = ""

    @property
    def annotation(self) -> str:
        """The field's declaration after its name."""
        if self.many:
            return f"tuple[{self.type}, ...]" + ("" if self.required else " = ()")
        return self.type if self.required else f"{self.type} | None = None"

    @property
    def argument(self) -> str:
        """The parameter that takes this field where children come as markup."""
        markup = "str" if self.required else 'str = ""'
        return f"{self.name}: {markup if self.element else self.annotation}"


class Struct(msgspec.Struct, frozen=True, kw_only=True):
    """A model class and its writer. `tag` is "" when several element names have the type;
    the writer then takes the name as an argument. `function` is "" when every such element is a `leaf`.
    `assembler` names the function that takes rendered children, "" for most types."""

    name: str
    function: str
    assembler: str
    tag: str
    root: bool
    fields: tuple[Field, ...]
    doc: str

    @property
    def attributes(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if not field.element)

    @property
    def children(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if field.element)

    @property
    def declared(self) -> list[Field]:
        """Attributes first, as in the markup."""
        return [*self.attributes, *self.children]


class Member(msgspec.Struct, frozen=True):
    name: str
    text: str
    literal: str
    doc: str


class Enumeration(msgspec.Struct, frozen=True, kw_only=True):
    """A closed list of codes; `table` is the name of the dict from member to text."""

    name: str
    base: Literal["IntEnum", "StrEnum"]
    table: str
    members: tuple[Member, ...]
    doc: str


class Model:
    """All classes of all schemas, by qualified name, and what the templates need of each."""

    def __init__(self, classes: Iterable[Class], names: Names) -> None:
        self._classes = {obj.qname: obj for obj in classes}
        self._names = names
        self._tags = self._element_names()
        self._called = self._called_types()

    def _element_names(self) -> dict[str, set[str]]:
        tags: dict[str, set[str]] = {}
        for obj in self._classes.values():
            if obj.is_element:
                tags.setdefault(obj.qname, set()).add(obj.name)
            for attr in obj.attrs:
                for kind in attr.user_types:
                    tags.setdefault(kind.qname, set()).add(attr.local_name)
        return tags

    def _called_types(self) -> set[str]:
        """The types whose writers are called: documents, and what is not always written in place."""
        called = {obj.qname for obj in self._classes.values() if obj.is_element}
        for obj in self._classes.values():
            called.update(attr.types[0].qname for attr in obj.attrs if not self._is_leaf(attr))
        return called

    def _is_leaf(self, attr: Attr) -> bool:
        """Whether it is a list of elements without children."""
        target = self._classes.get(attr.types[0].qname)
        return attr.is_list and target is not None and not any(child.is_element for child in target.attrs)

    def helpers(self, qname: str) -> str:
        """The name that a module must import beside the class `qname` itself to write it, "" for none."""
        obj = self._classes[qname]
        return self._table(obj) if obj.is_enumeration else self._renderer(obj)

    def enumeration(self, obj: Class) -> Enumeration:
        kinds = {self._native_kind(obj, attr) for attr in obj.attrs}
        if kinds not in ({"integer"}, {"text"}):
            raise CodegenError("Enumerations hold whole numbers or strings", type=obj.name)
        whole = kinds == {"integer"}
        return Enumeration(
            name=self._names.type(obj.name),
            base="IntEnum" if whole else "StrEnum",
            table=self._table(obj),
            members=tuple(self._member(obj, attr, whole) for attr in obj.attrs),
            doc=_text(obj.help),
        )

    def struct(self, obj: Class) -> Struct:
        _refuse_unwritable(obj)
        tags = self._tags.get(obj.qname, set())
        return Struct(
            name=self._names.type(obj.name),
            function=self._renderer(obj),
            assembler=f"assemble_{self._names.function(obj.name)}" if obj.name in _ASSEMBLED else "",
            tag=next(iter(tags)) if len(tags) == 1 else "",
            root=obj.is_element,
            fields=tuple(self._field(obj, attr) for attr in obj.attrs),
            doc=_text(obj.help),
        )

    def _table(self, obj: Class) -> str:
        return self._names.constant(obj.name) + "_TEXT"

    def _renderer(self, obj: Class) -> str:
        if obj.qname not in self._called:
            return ""
        return ("write_" if obj.is_element else "render_") + self._names.function(obj.name)

    def _member(self, obj: Class, attr: Attr, whole: bool) -> Member:
        """The member is named by the documentation's words before the colon ("Not started: …")."""
        head, colon, rest = _text(attr.help).partition(":")
        if not colon:
            raise CodegenError("Document each value as 'Name: meaning'", type=obj.name, value=attr.default)
        value = str(attr.default)
        literal = value if whole else f'"{value}"'
        return Member(self._names.constant(head), value, literal, rest.strip())

    def _field(self, obj: Class, attr: Attr) -> Field:
        _refuse_unwritable_field(obj, attr)
        target = self._classes.get(attr.types[0].qname)
        kind = (
            self._native_kind(obj, attr) if target is None else "enum" if target.is_enumeration else "struct"
        )
        field = Field(
            name=self._names.field(attr.name),
            tag=attr.local_name,
            kind=kind,
            element=attr.is_element,
            type=self._names.type(target.name) if target else _PYTHON[kind],
            required=attr.restrictions.min_occurs != 0,
            many=attr.is_list,
            doc=_text(attr.help),
        )
        return field if target is None else self._with_helper(field, attr, target)

    def _with_helper(self, field: Field, attr: Attr, target: Class) -> Field:
        helper = self.helpers(target.qname)
        if field.kind == "enum":
            return msgspec.structs.replace(field, helper=helper)
        struct = self.struct(target)
        leaf = struct if self._is_leaf(attr) else None
        return msgspec.structs.replace(field, helper=helper, named=not struct.tag, leaf=leaf)

    def _native_kind(self, obj: Class, attr: Attr) -> Kind:
        datatype = attr.types[0].datatype
        if datatype not in _KINDS:
            raise CodegenError("No writer for this data type", type=obj.name, attr=attr.name)
        if attr.restrictions.pattern == _FLAG_PATTERN:
            return "flag"
        return _KINDS[datatype]


def _text(documentation: str | None) -> str:
    return " ".join((documentation or "").split())


def _refuse_unwritable(obj: Class) -> None:
    for present, what in (
        (obj.extensions, "inheritance: use an attribute group"),
        (obj.inner, "anonymous types: name them"),
        (obj.is_mixed, "mixed content"),
        (obj.is_nillable, "nillable elements"),
        (obj.abstract, "abstract types"),
        (obj.target_namespace, "namespaces: existing clients refuse them"),
    ):
        if present:
            raise CodegenError(f"The writers know no {what}", type=obj.name)


def _refuse_unwritable_field(obj: Class, attr: Attr) -> None:
    for present, what in (
        (attr.tag not in (Tag.ATTRIBUTE, Tag.ELEMENT), "wildcards and simple content with attributes"),
        (len(attr.types) != 1, "unions"),
        (attr.restrictions.choice, "choices: use a sequence"),
        (attr.restrictions.tokens, "token lists"),
        (attr.default is not None, "defaults: leave the attribute out or pass the value"),
        (attr.is_circular_ref, "recursive types"),
    ):
        if present:
            raise CodegenError(f"The writers know no {what}", type=obj.name, attr=attr.name)
