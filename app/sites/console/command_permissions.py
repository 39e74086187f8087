"""Who may give a command, and so consent to it or take it back: as the role allows."""

from uuid import UUID

from app.commands.match_commands import Command
from app.commands.trading_commands import Undo
from app.domain.tenant import OperatorRole
from app.sites.console.command_forms import FORMS
from app.sites.console.site import Permission, check
from app.store import operator_commands
from app.store.transaction import Tx


def permission_for(name: str) -> Permission:
    """What a command requires; one without a form in the console, an administrator."""
    return FORMS[name].permission if name in FORMS else Permission.ACCOUNTS


async def check_may_give(tx: Tx, role: OperatorRole | None, match_id: UUID, command: Command) -> None:
    """Raise `Forbidden` unless operators of that role may give the command; to take one back they must be
    allowed to give it."""
    check(role, permission_for(str(command.__struct_config__.tag)))
    if isinstance(command, Undo):
        executed = await operator_commands.get(tx, match_id, command.of)
        if executed is not None:
            check(role, permission_for(executed.name))
