"""The TypeScript client: its packages, the generator, the compiler, and the program."""

from collections.abc import Mapping
from pathlib import Path

from tests.rest_clients.counting import Counts, of_typescript
from tests.support import npm

_SOURCE = Path(__file__).parent / "typescript"


def generate(document: Path) -> Counts:
    """Generate the types anew; raises `RuntimeError` for any error or warning."""
    place = npm.installed(_SOURCE)
    types = place / "api.d.ts"
    options = ("--output", str(types), "--default-non-nullable=false")
    output = npm.run(*_tool(place, "openapi-typescript"), str(document), *options)
    if "warn" in output.lower():
        raise RuntimeError(output)
    return of_typescript(types)


def check() -> None:
    """Compile the program, strictly."""
    place = npm.installed(_SOURCE)
    npm.run(*_tool(place, "tsc"), "--project", str(place / "tsconfig.json"))


def tour(environment: Mapping[str, str]) -> str:
    """Run the program; what it prints."""
    return npm.run(npm.node(), str(npm.installed(_SOURCE) / "built" / "tour.js"), environment=environment)


def _tool(place: Path, name: str) -> tuple[str, str]:
    return npm.node(), str(place / "node_modules" / ".bin" / name)
