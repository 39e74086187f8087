"""The feed's XML messages as JSON Schema, read from `schemas/feed.xsd`: for documents that know no XSD.

An attribute or a child element is a property that says so under `x-xml`; a repeated element is an array. Of
XML Schema it knows what our schemas use.
"""

from importlib.resources import files
from typing import Any

from lxml import etree

Json = dict[str, Any]
_FOLDER = files("app").joinpath("schemas")
_XS = "{http://www.w3.org/2001/XMLSchema}"
_PLAIN = {
    "string": "string",
    "int": "integer",
    "long": "integer",
    "boolean": "integer",  # written 1 or 0
    "decimal": "number",
    "anyURI": "string",
}
_BOUNDS = {"minInclusive": "minimum", "maxInclusive": "maximum"}
_COUNTED = {"integer", "number"}


class XsdAsJsonSchema:
    """Everything that the schema files name."""

    def __init__(self, *names: str) -> None:
        nodes = [node for name in names for node in etree.fromstring(_FOLDER.joinpath(name).read_bytes())]
        self._elements = {node.get("name"): node for node in nodes if node.tag == f"{_XS}element"}
        self._named = {node.get("name"): node for node in nodes if node.get("name")}

    def message(self, name: str) -> Json:
        """The schema of a root element; raises `KeyError` for one that is not there."""
        node = self._elements[name]
        shape = self._complex(node.find(f"{_XS}complexType"))
        return {"title": name, "description": _documentation(node), "x-xml": {"name": name}, **shape}

    def types(self) -> dict[str, Json]:
        """The named types that messages refer to as `#/components/schemas/<name>`."""
        return {
            name: {"description": _documentation(node), **self._complex(node)}
            for name, node in self._named.items()
            if node.tag == f"{_XS}complexType"
        }

    def _complex(self, node: etree._Element) -> Json:
        properties: Json = {}
        required: list[str] = []
        for part in self._parts(node):
            name = part.get("name", "")
            attribute = part.tag == f"{_XS}attribute"
            properties[name] = self._attribute(part) if attribute else self._child(part)
            if part.get("use") == "required" or (not attribute and part.get("minOccurs", "1") != "0"):
                required.append(name)
        return {"type": "object", "properties": properties, **({"required": required} if required else {})}

    def _parts(self, node: etree._Element) -> list[etree._Element]:
        found: list[etree._Element] = []
        for part in node:
            if part.tag == f"{_XS}sequence":
                found += self._parts(part)
            elif part.tag == f"{_XS}attributeGroup":
                found += self._parts(self._named[part.get("ref")])
            elif part.tag in (f"{_XS}element", f"{_XS}attribute"):
                found.append(part)
        return found

    def _attribute(self, node: etree._Element) -> Json:
        shape = self._simple(node.get("type", ""))
        description = " ".join(filter(None, (_documentation(node), shape.pop("description", ""))))
        return {**shape, "description": description, "x-xml": {"attribute": True}}

    def _child(self, node: etree._Element) -> Json:
        shape: Json = {"$ref": f"#/components/schemas/{node.get('type')}"}
        if node.get("maxOccurs") != "unbounded":
            return shape
        return {"type": "array", "items": shape, "description": _documentation(node)}

    def _simple(self, name: str) -> Json:
        if name.startswith("xs:"):
            return {"type": _PLAIN[name.removeprefix("xs:")]}
        node = self._named[name]
        shape, texts = self._simple(node[-1].get("base", "")), [_documentation(node)]
        for facet in node[-1]:
            kind, value = etree.QName(facet).localname, facet.get("value", "")
            if kind == "enumeration":
                value = int(value) if shape["type"] in _COUNTED else value
                shape.setdefault("enum", []).append(value)
                texts.append(f"{value}: {_documentation(facet)}")
            elif kind == "pattern" and shape["type"] == "string":
                shape["pattern"] = f"^({value})$"
            elif kind in _BOUNDS:
                shape[_BOUNDS[kind]] = float(value) if shape["type"] == "number" else int(value)
        if node[-1].get("base") == "xs:boolean":
            shape["enum"] = [0, 1]
        return {**shape, "description": " ".join(filter(None, texts))}


def feed_json_schema() -> XsdAsJsonSchema:
    return XsdAsJsonSchema("common.xsd", "feed.xsd")


def _documentation(node: etree._Element) -> str:
    return str(node.findtext(f"{_XS}annotation/{_XS}documentation") or "").strip()
