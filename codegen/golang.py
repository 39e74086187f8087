"""The messages of the Go client: structs that `encoding/xml` reads, as gofmt formats them."""

import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from xsdata.codegen.exceptions import CodegenError
from xsdata.codegen.models import Class
from xsdata.codegen.transformer import ResourceTransformer
from xsdata.models.config import GeneratorConfig, OutputFormat
from xsdata.utils.text import pascal_case, snake_case

from codegen.generator import FORMAT
from codegen.model import Enumeration, Field, Model, Names, Struct

_WIDTH = 100
_TYPES = {
    "text": "string",
    "integer": "int64",
    "decimal": "Decimal",
    "flag": "bool",
    "boolean": "bool",
    "date": "string",
}
#: Absent where they are empty; everything else that may be left out is a pointer.
_EMPTY_IF_ABSENT = ("text", "decimal", "date")
_HEAD = """\
// Code generated from schemas/feed.xsd by `python -m codegen`; DO NOT EDIT.

// Package messages has the messages of the feed, as encoding/xml reads them.
package messages

import (
	"encoding/json"
	"encoding/xml"
)

// Decimal is a number as it was written: odds are compared and stored without rounding.
type Decimal = json.Number

// Message is a message of the feed: a pointer to one of the structs that New makes.
type Message interface {
	// About says which match it is about, "" for none, when it was so (Unix ms), and which recovery it
	// answers, "" for none.
	About() (match string, timestamp int64, request string)
}
"""


def go_messages(schemas: Path) -> dict[str, str]:
    """The source file of the Go client's messages, by its name."""
    config = GeneratorConfig()
    config.output.format = OutputFormat(value=FORMAT)
    transformer = ResourceTransformer(config=config)
    transformer.process_sources([(schemas / "feed.xsd").resolve().as_uri()])
    classes = list(transformer.analyze_classes(transformer.classes))
    names = Names(type=_exported, field=_exported, constant=_exported, function=snake_case)
    model = Model(classes, names)
    needed = list(_needed(classes))
    parts = [_HEAD, _new(model.struct(obj) for obj in needed if obj.is_element)]
    for obj in needed:
        if obj.is_enumeration:
            parts += _enumeration(model.enumeration(obj))
        else:
            parts += _struct(model.struct(obj))
    return {"messages.go": "\n".join(parts)}


def _exported(name: str) -> str:
    """The name in Go: `event_id` is `EventID`."""
    text = pascal_case(name)
    return f"{text[:-2]}ID" if text.endswith("Id") else text


def _needed(classes: Iterable[Class]) -> Iterator[Class]:
    """The messages, and what they are made of; types that only other documents have are left out."""
    known = {obj.qname: obj for obj in classes}
    wanted = [obj.qname for obj in known.values() if obj.is_element]
    for qname in wanted:
        kinds = (kind.qname for attr in known[qname].attrs for kind in attr.types if kind.qname in known)
        wanted += [kind for kind in kinds if kind not in wanted]
    return (known[qname] for qname in sorted(set(wanted)))


def _enumeration(found: Enumeration) -> Iterator[str]:
    base = "int" if found.base == "IntEnum" else "string"
    yield _comment(f"{found.name}: {found.doc}") + f"type {found.name} {base}\n"
    rows = (
        _comment(member.doc, "\t") + f"\t{found.name}{member.name} {found.name} = {member.literal}\n"
        for member in found.members
    )
    yield f"// Values of {found.name}.\nconst (\n{''.join(rows)})\n"


def _struct(found: Struct) -> Iterator[str]:
    lines = [_comment(f"{found.name}: {found.doc}"), f"type {found.name} struct {{\n"]
    if found.root:
        lines.append(f'\tXMLName xml.Name `xml:"{found.tag}"`\n')
    lines += [_comment(field.doc, "\t") + _declared(field) for field in found.declared]
    yield "".join((*lines, "}\n"))
    if not found.root:
        return
    named = {field.tag for field in found.fields}
    about = (
        f"m.{_exported(tag)}" if tag in named else '""' for tag in ("event_id", "timestamp", "request_id")
    )
    yield (
        f"// About implements Message.\nfunc (m *{found.name}) About() (string, int64, string) {{\n"
        f"\treturn {', '.join(about)}\n}}\n"
    )


def _new(messages: Iterable[Struct]) -> str:
    cases = "".join(f'\tcase "{each.tag}":\n\t\treturn &{each.name}{{}}\n' for each in messages)
    return (
        "// New returns an empty message for the name of its root element, nil for a name that is unknown.\n"
        f"func New(root string) Message {{\n\tswitch root {{\n{cases}\t}}\n\treturn nil\n}}\n"
    )


def _declared(field: Field) -> str:
    if field.kind == "time":
        raise CodegenError("The Go client reads no times", attr=field.tag)
    kind = _TYPES.get(field.kind, field.type)
    if field.many:
        kind = f"[]{kind}"
    elif not field.required and field.kind not in _EMPTY_IF_ABSENT:
        kind = f"*{kind}"
    place = field.tag if field.element else f"{field.tag},attr"
    return f'\t{field.name} {kind} `xml:"{place}"`\n'


def _comment(text: str, indent: str = "") -> str:
    lines = textwrap.wrap(text, _WIDTH - len(indent), break_long_words=False, break_on_hyphens=False)
    return "".join(f"{indent}// {line}\n" for line in lines)
