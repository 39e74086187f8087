"""What `docs/promises.md` promises by name and no other document records, one line each.

Settings, commands with their options and arguments, metrics, alerts of both kinds, columns of daily files,
names of the Python client. A line that is gone, or another than it was, breaks whoever relies on it.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import matchfeed_client

from app.cli import main
from app.domain.daily_files import FileKind
from app.store.alerts import AlertKind
from app.wire.views.file_rows import columns_of
from app.wire.views.files import SCHEMA_VERSION
from scripts.monitoring.rules_file import all_alerts
from scripts.pages import configuration, metrics_page

RECORDED = Path(__file__).with_name("recorded.txt")


def promised() -> list[str]:
    """Every line, in order."""
    return sorted(
        {
            *(f"setting {name.strip('`')}: {kind}" for name, kind, _, _ in configuration.rows()),
            *_commands(click.Context(main), main, "matchfeed"),
            *(
                f"metric {name} {kind}: {labels}".replace("`", "")
                for name, kind, labels, _, _ in metrics_page.rows()
            ),
            *(f"alert of operators {kind}" for kind in AlertKind),
            *(f"alert of Prometheus {each.name}" for each in all_alerts()),
            *(
                f"column {kind} {SCHEMA_VERSION}: {each.name} {each.type}"
                for kind in FileKind
                for each in columns_of(kind, probabilities=True)
            ),
            *(f"name matchfeed_client.{name}" for name in matchfeed_client.__all__),
        }
    )


def broken(recorded: Iterable[str], present: Iterable[str]) -> list[str]:
    """What was promised and is not as it was. What need not be given any more breaks nobody."""
    kept = set(present)
    kept |= {line.removesuffix("optional") + "required" for line in kept if line.endswith(", optional")}
    return sorted(set(recorded) - kept)


def _commands(context: click.Context, command: click.Command, name: str) -> Iterator[str]:
    """A command's parameters with what they take, and the commands within it."""
    yield f"command {name}"
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    for parameter in command.params:
        if parameter in arguments:
            spellings = [f"argument {name} {arguments.index(parameter) + 1}"]
        else:
            spellings = [f"option {name} {each}" for each in (*parameter.opts, *parameter.secondary_opts)]
        for spelling in spellings:
            yield f"{spelling}: {_kind(parameter)}, {'required' if parameter.required else 'optional'}"
            if isinstance(parameter.type, click.Choice):
                yield from (f"{spelling} {choice}" for choice in parameter.type.choices)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            within = command.get_command(context, each)
            assert within is not None
            yield from _commands(click.Context(within, parent=context), within, f"{name} {each}")


def _kind(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option) and (parameter.is_flag or parameter.count):
        return "flag"
    return parameter.type.name + (", several" if parameter.multiple or parameter.nargs != 1 else "")
