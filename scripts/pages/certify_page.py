"""Every accident of `matchfeed certify` as it is declared; what stands before them is written by hand."""

from pathlib import Path

from app.sandbox.certification.accidents import ACCIDENTS
from app.sandbox.certification.declarations import Accident

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "certify.md"
_BEGIN = "## The accidents\n"


def page() -> str:
    """The text of docs/certify.md."""
    head = _PAGE.read_text().partition(_BEGIN)[0]
    sections = "\n".join(map(_section, ACCIDENTS.values()))
    return f"{head}{_BEGIN}\nThere are {len(ACCIDENTS)}.\n\n{sections}"


def _section(accident: Accident) -> str:
    needs = " It needs `--client`." if accident.restarts else ""
    return (
        f"### {accident.name}\n\n"
        f"{', '.join(f'`{each}`' for each in accident.channels)}. {accident.what}{needs}\n\n"
        f"- A right client: {accident.client}\n- Why: {accident.why}\n"
    )
