"""The configuration of SDKs in docs/compatibility.md has the names that the SDKs have."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "compatibility.md"
#: Names of the public sources of the SDKs: `main` of 2026-05 and the next line of Go, .NET 1.1.36, Java
#: 0.0.54 and 1.
NAMES = {
    "Go 1": {
        "NewConfig",
        "IntegrationEnvironment",
        "WithAPIURL",
        "WithMQURL",
        "WithMessagingPort",
        "WithNodeID",
    },
    "Go 0.0.x": {"NewConfiguration", "IntegrationEnvironment", "SetAPIURL", "SetMQURL", "SetMessagingPort"},
    ".NET": {"GetConfigurationBuilder", "SetAccessToken", "SelectEnvironment", "SetNodeId", "Build"},
    "Java 1": {"selectEnvironment", "setAccessToken", "setSDKNodeId"},
    "Java 0.0.x": {"selectEnvironment", "setAccessToken", "setSDKNodeId"},
}
_NAME = re.compile(r"\b(?:types\.|protocols\.)?(\w+)(?=\()|\b(?:types|protocols)\.(\w+)")


def used() -> dict[str, set[str]]:
    """The names that the page's lines use, by SDK."""
    section = PAGE.read_text().partition("### Configuration")[2].partition("\n### ")[0]
    rows = [row.strip("| ").split(" | ", 1) for row in section.splitlines() if row.startswith("| ")]
    found = {}
    for sdk, lines in rows:
        code = " ".join(re.findall(r"`([^`]*)`", lines))
        found[sdk] = {one or other for one, other in _NAME.findall(code)}
    return {sdk: names for sdk, names in found.items() if names}


def test_every_sdk_has_its_line() -> None:
    assert used().keys() == NAMES.keys()


@pytest.mark.parametrize("sdk", NAMES)
def test_a_line_uses_no_name_that_the_sdk_lacks(sdk: str) -> None:
    assert used()[sdk] == NAMES[sdk]
