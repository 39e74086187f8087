"""The style guide: its contrasts are those of the colours, and pages have no colours of their own."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
SITES = ROOT / "app" / "sites"
TOKENS = (SITES / "pages" / "assets" / "tokens.css").read_text()
COLOURS = {
    name: {"light": light, "dark": dark}
    for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", TOKENS)
}
ROWS = re.findall(
    r"^\| ([\w-]+) on ([\w-]+) \| ([\d.]+) \| ([\d.]+) \|$", (ROOT / "docs" / "style.md").read_text(), re.M
)
SHEETS = [each for each in SITES.glob("*/assets/*.css") if each.name not in ("tokens.css", "uPlot.min.css")]
#: Of text: WCAG 2.2, 1.4.3.
LEAST = 4.5


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    digits = colour.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * each for each in digits)
    red, green, blue = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    linear = [
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in (red, green, blue)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(text: str, ground: str) -> float:
    dark, light = sorted((luminance(text), luminance(ground)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_guide_states_the_contrasts_of_the_colours(theme: str) -> None:
    assert len(ROWS) > 20
    for text, ground, light, dark in ROWS:
        found = contrast(COLOURS[text][theme], COLOURS[ground][theme])
        assert f"{found:.1f}" == {"light": light, "dark": dark}[theme], (text, ground)
        assert found >= LEAST


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_no_page_has_a_colour_of_its_own(sheet: Path) -> None:
    """But the white that a QR code needs, and the shade behind a dialog."""
    own = set(re.findall(r"#[0-9a-f]{3,6}\b(?=[;\s,)])|\brgba?\([^)]*\)", sheet.read_text()))
    assert own <= {"#fff", "rgb(0 0 0 / .5)"}


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_every_token_that_a_page_names_exists(sheet: Path) -> None:
    named = set(re.findall(r"var\(--([\w-]+)", sheet.read_text()))
    known = set(re.findall(r"--([\w-]+):", TOKENS)) | set(re.findall(r"--([\w-]+):", sheet.read_text()))
    assert named - known <= {"left"}, "the rest of a clock, which a script sets"
