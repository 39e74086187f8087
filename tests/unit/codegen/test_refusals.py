"""What the writers cannot write is refused at generation, never written wrongly."""

from pathlib import Path

import pytest
from xsdata.codegen.exceptions import CodegenError

from codegen.output import generate

HEAD = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">'
REFUSED = {
    "defaults": """<xs:element name="a"><xs:complexType>
        <xs:attribute name="b" type="xs:string" default="x"/></xs:complexType></xs:element>""",
    "choices": """<xs:element name="a"><xs:complexType><xs:choice>
        <xs:element name="b" type="xs:string"/><xs:element name="c" type="xs:string"/>
        </xs:choice></xs:complexType></xs:element>""",
    "inheritance": """<xs:complexType name="base"><xs:attribute name="b" type="xs:string"/></xs:complexType>
        <xs:element name="a"><xs:complexType><xs:complexContent><xs:extension base="base">
        <xs:attribute name="c" type="xs:string"/></xs:extension></xs:complexContent>
        </xs:complexType></xs:element>""",
    "data type": """<xs:element name="a"><xs:complexType>
        <xs:attribute name="b" type="xs:double"/></xs:complexType></xs:element>""",
    "wildcards": """<xs:element name="a"><xs:complexType><xs:sequence><xs:any/></xs:sequence>
        </xs:complexType></xs:element>""",
    "simple content": """<xs:element name="a"><xs:complexType><xs:simpleContent>
        <xs:extension base="xs:string"><xs:attribute name="b" type="xs:string"/></xs:extension>
        </xs:simpleContent></xs:complexType></xs:element>""",
    "anonymous types": """<xs:element name="a"><xs:complexType><xs:sequence>
        <xs:element name="b"><xs:complexType><xs:attribute name="c" type="xs:string"/></xs:complexType>
        </xs:element></xs:sequence></xs:complexType></xs:element>""",
    "mixed content": """<xs:element name="a"><xs:complexType mixed="true"><xs:sequence>
        <xs:element name="b" type="xs:string"/></xs:sequence></xs:complexType></xs:element>""",
    "Document each value": """<xs:simpleType name="code"><xs:restriction base="xs:int">
        <xs:enumeration value="1"/></xs:restriction></xs:simpleType>
        <xs:element name="a"><xs:complexType><xs:attribute name="b" type="code"/></xs:complexType>
        </xs:element>""",
    "recursive types": """<xs:complexType name="tree"><xs:sequence>
        <xs:element name="branch" type="tree" minOccurs="0"/></xs:sequence></xs:complexType>
        <xs:element name="a"><xs:complexType><xs:sequence><xs:element name="b" type="tree"/></xs:sequence>
        </xs:complexType></xs:element>""",
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_by_name(what: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.xsd").write_text(f"{HEAD}{REFUSED[what]}</xs:schema>")
    with pytest.raises(CodegenError, match=what):
        generate(tmp_path)


def test_namespaces_are_refused(tmp_path: Path) -> None:
    head = HEAD.replace(">", ' targetNamespace="urn:x">')
    (tmp_path / "wrong.xsd").write_text(
        f"""{head}<xs:element name="a"><xs:complexType>
        <xs:attribute name="b" type="xs:string"/></xs:complexType></xs:element></xs:schema>"""
    )
    with pytest.raises(CodegenError, match="namespaces"):
        generate(tmp_path)


def test_a_folder_without_schemas_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match="No schemas"):
        generate(tmp_path)
