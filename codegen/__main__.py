"""`python -m codegen [--check]`: write the XML models and writers, or report where they differ."""

import sys
from pathlib import Path

import click

from codegen.golang import go_messages
from codegen.output import client_messages, differences, generate, write
from codegen.typescript import typescript_messages

_ROOT = Path(__file__).parent.parent
_CLIENT = _ROOT / "scripts" / "client" / "matchfeed_client" / "messages"
_TYPESCRIPT = _ROOT / "scripts" / "clients" / "typescript" / "src" / "messages"
_GO = _ROOT / "scripts" / "clients" / "go" / "messages"


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; fail when anything would change.")
@click.option("--schemas", type=click.Path(path_type=Path, exists=True), default=_ROOT / "schemas")
@click.option("--output", type=click.Path(path_type=Path), default=_ROOT / "app" / "wire" / "generated")
@click.option("--client", type=click.Path(path_type=Path), default=_CLIENT)
@click.option("--typescript", type=click.Path(path_type=Path), default=_TYPESCRIPT)
@click.option("--go", type=click.Path(path_type=Path), default=_GO)
def main(check: bool, schemas: Path, output: Path, client: Path, typescript: Path, go: Path) -> None:
    """Generate OUTPUT, and the clients' messages in CLIENT, TYPESCRIPT and GO, from the XSDs in SCHEMAS."""
    packages = {
        output: generate(schemas),
        client: client_messages(schemas),
        typescript: typescript_messages(schemas),
        go: go_messages(schemas),
    }
    if not check:
        for directory, sources in packages.items():
            for line in write(sources, directory):
                click.echo(line.replace("differs from what the schemas say", "rewritten"))
        return
    drift = [line for directory, sources in packages.items() for line in differences(sources, directory)]
    for line in drift:
        click.echo(line, err=True)
    if drift:
        click.echo("Run `python -m codegen` and commit what it writes.", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
