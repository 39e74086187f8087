"""`python -m codegen [--check]`: write the XML models and writers, or report where they differ."""

import sys
from pathlib import Path

import click

from codegen.output import differences, generate, write

_ROOT = Path(__file__).parent.parent


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; fail when anything would change.")
@click.option("--schemas", type=click.Path(path_type=Path, exists=True), default=_ROOT / "schemas")
@click.option("--output", type=click.Path(path_type=Path), default=_ROOT / "app" / "wire" / "generated")
def main(check: bool, schemas: Path, output: Path) -> None:
    """Generate OUTPUT from the XSDs in SCHEMAS."""
    sources = generate(schemas)
    if not check:
        for line in write(sources, output):
            click.echo(line.replace("differs from what the schemas say", "rewritten"))
        return
    drift = differences(sources, output)
    for line in drift:
        click.echo(line, err=True)
    if drift:
        click.echo("Run `python -m codegen` and commit what it writes.", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
