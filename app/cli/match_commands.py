"""The group `match`, put together from the modules that have its commands."""

from app.cli.match_control_commands import match_audit, match_command, match_sources, preview_command
from app.cli.match_lifecycle_commands import match
from app.cli.recompute_commands import match_export

for command in (match_command, preview_command, match_audit, match_sources, match_export):
    match.add_command(command)
