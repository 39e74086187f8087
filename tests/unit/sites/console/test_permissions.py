"""Who may do what: the table of `docs/console.md` is what the code allows."""

import re
from pathlib import Path
from typing import get_args

from app.commands.alert_handling import AnyAlertCommand
from app.commands.trading_commands import AnyCommand
from app.domain.tenant import OperatorRole
from app.sites.console.command_forms import FORMS, permission_for
from app.sites.console.site import Permission, allowed

_PAGE = Path(__file__).resolve().parents[4] / "docs" / "console.md"
_ROW = re.compile(r"^\| (?!command )(.+?) \|(.*)\|$", re.MULTILINE)
ALERTS = {str(one.__struct_config__.tag) for one in get_args(AnyAlertCommand)}


def table() -> dict[str, set[OperatorRole]]:
    """The roles that may give each command, as the page has it."""
    text = _PAGE.read_text()
    part = text[text.index("| command | viewer |") : text.index("## Live")]
    found = {}
    for title, cells in _ROW.findall(part):
        who = {
            role for role, cell in zip(OperatorRole, cells.split("|"), strict=True) if cell.strip() == "yes"
        }
        found |= dict.fromkeys(re.findall(r"`(\w+)`", title), who)
    return found


def holders(permission: Permission) -> set[OperatorRole]:
    return {role for role in OperatorRole if permission in allowed(role)}


def test_the_table_has_each_command_with_those_who_may_give_it() -> None:
    found = table()
    assert FORMS.keys() | ALERTS | {"set_format"} == found.keys()
    for name, who in found.items():
        permission = Permission.ALERTS if name in ALERTS else permission_for(name)
        assert holders(permission) == who, name


def test_what_has_no_form_is_for_administrators() -> None:
    commands = {str(one.__struct_config__.tag) for one in get_args(AnyCommand)}
    assert FORMS.keys() < commands
    for name in commands - FORMS.keys():
        assert holders(permission_for(name)) == {OperatorRole.ADMIN}
