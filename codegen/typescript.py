"""The messages of the TypeScript client: an interface for each type of `feed.xsd`, and the tables by which
the client reads them.
"""

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path

from xsdata.codegen.transformer import ResourceTransformer
from xsdata.formats.dataclass.filters import Filters
from xsdata.models.config import GeneratorConfig
from xsdata.utils.text import snake_case

from codegen.generator import LINE_LENGTH
from codegen.model import Enumeration, Field, Model, Names, Struct

_TYPES = {"text": "string", "integer": "number", "decimal": "number", "flag": "boolean"}
_HEAD = """\
// Generated from `schemas/feed.xsd` by `python -m codegen`: do not edit.

/** How an attribute is read; `codes` are the values that it may have. */
export interface Attribute {
  readonly kind: "text" | "integer" | "decimal" | "flag" | "code";
  readonly required: boolean;
  readonly codes?: readonly (number | string)[];
}

/** A child element, by its name in `SHAPES`. */
export interface Child {
  readonly shape: string;
  readonly required: boolean;
  readonly many: boolean;
}

/** What an element has. */
export interface Shape {
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly children: Readonly<Record<string, Child>>;
}
"""


def typescript_messages(schemas: Path) -> dict[str, str]:
    """The messages of the TypeScript client by file name."""
    config = GeneratorConfig()
    transformer = ResourceTransformer(config=config)
    transformer.process_sources([(schemas / "feed.xsd").resolve().as_uri()])
    classes = sorted(transformer.analyze_classes(transformer.classes), key=lambda each: each.name.lower())
    filters = Filters(config)
    names = Names(
        type=filters.class_name,
        field=str,
        constant=lambda name: filters.constant_name(name, ""),
        function=snake_case,
    )
    model = Model(classes, names)
    structs = [model.struct(each) for each in classes if not each.is_enumeration]
    parts = [
        _HEAD,
        *(_enumeration(model.enumeration(each)) for each in classes if each.is_enumeration),
        *map(_interface, structs),
        _union([each for each in structs if each.root]),
        _shapes(structs),
    ]
    return {"index.ts": "\n".join(parts)}


def _comment(text: str, indent: str = "") -> str:
    one = f"{indent}/** {text} */\n"
    if len(one) <= LINE_LENGTH:
        return one
    lines = textwrap.wrap(text, LINE_LENGTH - len(indent) - 3)
    return "".join((f"{indent}/**\n", *(f"{indent} * {line}\n" for line in lines), f"{indent} */\n"))


def _enumeration(enumeration: Enumeration) -> str:
    members = "".join(
        f"{_comment(member.doc, '  ')}  {member.name}: {member.literal},\n" for member in enumeration.members
    )
    name = enumeration.name
    return (
        f"{_comment(enumeration.doc)}export const {name} = {{\n{members}}} as const;\n"
        f"export type {name} = (typeof {name})[keyof typeof {name}];\n"
    )


def _interface(struct: Struct) -> str:
    kind = f'  readonly kind: "{struct.tag}";\n' if struct.root else ""
    fields = "".join(
        f"{_comment(field.doc, '  ')}  readonly {_declared(field)};\n" for field in struct.declared
    )
    return f"{_comment(struct.doc)}export interface {struct.name} {{\n{kind}{fields}}}\n"


def _declared(field: Field) -> str:
    type_ = field.type if field.kind in ("enum", "struct") else _TYPES[field.kind]
    if field.many:
        return f"{field.tag}: readonly {type_}[]"
    return f"{field.tag}{'' if field.required else '?'}: {type_}"


def _union(roots: list[Struct]) -> str:
    kinds = "".join(f"\n  | {each.name}" for each in roots)
    names = "".join(f'  {each.tag}: "{each.name}",\n' for each in roots)
    return (
        f"/** Any message of the feed. */\nexport type Message ={kinds};\n\n"
        "/** The shape of each root element. */\n"
        f"export const ROOTS: Readonly<Record<string, string>> = {{\n{names}}};\n"
    )


def _shapes(structs: list[Struct]) -> str:
    lines = "".join(line for struct in structs for line in _shape(struct))
    return f"export const SHAPES: Readonly<Record<string, Shape>> = {{\n{lines}}};\n"


def _shape(struct: Struct) -> Iterator[str]:
    yield f"  {struct.name}: {{\n    attributes: {{\n"
    for field in struct.attributes:
        kind = "code" if field.kind == "enum" else field.kind
        codes = f", codes: Object.values({field.type})" if field.kind == "enum" else ""
        yield f'      {field.tag}: {{ kind: "{kind}", required: {json.dumps(field.required)}{codes} }},\n'
    yield "    },\n    children: {\n"
    for field in struct.children:
        flags = f"required: {json.dumps(field.required)}, many: {json.dumps(field.many)}"
        yield f'      {field.tag}: {{ shape: "{field.type}", {flags} }},\n'
    yield "    },\n  },\n"
