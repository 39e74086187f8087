"""The bill of materials has what is deployed. It was compared with the official schema, which is not part of
this repository, by `cyclonedx-python-lib`."""

import json
import re
from typing import Any

import pytest

from scripts import bill_of_materials
from scripts.bill_of_materials import ASSETS, PINS, ROOT, SWAGGER_UI, Differs, Pin, pins

DEPLOYED = pins(PINS.read_text())
BILL = bill_of_materials.bill(DEPLOYED)


def refs(components: list[dict[str, Any]]) -> list[str]:
    below = [ref for each in components for ref in refs(each.get("components", []))]
    return [each["bom-ref"] for each in components] + below


def test_every_package_that_is_pinned_is_installed_as_it_is_pinned() -> None:
    bill_of_materials.check_installed(DEPLOYED, bill_of_materials.installed_in(None), only=False)


def test_every_pin_is_in_it_with_version_hashes_and_licence() -> None:
    pinned = re.findall(r"^(\S+)==([^\s;]+) \\$", PINS.read_text(), re.MULTILINE)
    found = {each["name"]: each for each in BILL["components"]}
    assert len(pinned) > 50
    for name, version in pinned:
        assert found[name]["version"] == version and found[name]["licenses"][0]["expression"]
        assert found[name]["externalReferences"][0]["hashes"]


def test_the_files_of_others_in_the_wheel_are_in_it() -> None:
    others = [*ASSETS.glob("*.min.*"), *SWAGGER_UI.glob("*.js"), *SWAGGER_UI.glob("*.css")]
    assert len(others) > 5
    assert {str(each.relative_to(ROOT)) for each in others} <= set(refs(BILL["components"]))
    named = {each["purl"] for each in BILL["components"] if each["purl"].startswith("pkg:npm/")}
    assert {each.rpartition("@")[0] for each in named} == {
        *("pkg:npm/htmx.org", "pkg:npm/uplot", "pkg:npm/swagger-ui-dist")
    }


def test_what_it_says_of_dependencies_is_in_it() -> None:
    known = [BILL["metadata"]["component"]["bom-ref"], *refs(BILL["components"])]
    assert len(known) == len(set(known))
    needed = {each["ref"]: each["dependsOn"] for each in BILL["dependencies"]}
    assert {*needed, *(ref for each in needed.values() for ref in each)} <= set(known)
    libraries = {each["bom-ref"] for each in BILL["components"]}
    assert libraries == {ref for each in needed.values() for ref in each}, "each is needed by something"
    assert "://" not in json.dumps(BILL), "it names no host"


@pytest.mark.parametrize(
    ("installed", "only", "said"),
    [
        ({}, False, "one 1.0 is pinned, none is installed"),
        ({"one": "1.1"}, False, "one 1.0 is pinned, 1.1 is installed"),
        ({"one": "1.0", "two": "2"}, True, "two 2 is installed, and not pinned"),
    ],
)
def test_what_differs_is_named(installed: dict[str, str], only: bool, said: str) -> None:
    with pytest.raises(Differs) as refused:
        bill_of_materials.check_installed([Pin("one", "1.0", (), frozenset())], installed, only=only)
    assert str(refused.value) == said
