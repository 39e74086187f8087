"""Our schemas as documents that clients read."""

import pytest
from lxml import etree

from tests.golden.files import SCHEMAS

XS = "{http://www.w3.org/2001/XMLSchema}"
FILES = sorted(path.name for path in SCHEMAS.glob("*.xsd"))
DOCUMENTED = ("element", "attribute", "complexType", "simpleType", "enumeration")


@pytest.mark.parametrize("name", FILES)
def test_everything_is_documented(name: str) -> None:
    tree = etree.parse(SCHEMAS / name)
    for kind in DOCUMENTED:
        for node in tree.iter(XS + kind):
            anonymous = kind == "complexType" and node.get("name") is None
            text = node.findtext(f"{XS}annotation/{XS}documentation")
            assert anonymous or (text and text.strip()), etree.tostring(node)[:200]


@pytest.mark.parametrize("name", FILES)
def test_schema_is_a_schema_without_namespace(name: str) -> None:
    tree = etree.parse(SCHEMAS / name)
    assert tree.getroot().get("targetNamespace") is None
    etree.XMLSchema(tree)


@pytest.mark.parametrize("name", FILES)
def test_request_ids_are_text(name: str) -> None:
    """64 digits fit no integer type."""
    for node in etree.parse(SCHEMAS / name).iter(f"{XS}attribute"):
        if node.get("name") == "request_id":
            assert node.get("type") == "requestId"
