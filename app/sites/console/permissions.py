"""What an operator's role allows in the console. Everybody who is signed in may read."""

from enum import StrEnum

from app.domain.tenant import OperatorRole
from app.kit.errors import Forbidden


class Permission(StrEnum):
    """What a route, or a command, requires."""

    ALERTS = "alerts"  #: take and end alerts
    TRADE = "trade"  #: what is on offer and at which price; log sources
    SETTLE = "settle"  #: settle, void, roll back, award
    UNDO = "undo"  #: take back a command that one might have given
    ACCOUNTS = "accounts"


_ALLOWED = {
    OperatorRole.VIEWER: frozenset[Permission](),
    OperatorRole.TRADER: frozenset({Permission.ALERTS, Permission.TRADE, Permission.UNDO}),
    OperatorRole.SETTLER: frozenset({Permission.ALERTS, Permission.SETTLE, Permission.UNDO}),
    OperatorRole.ADMIN: frozenset(Permission),
}


def allowed(role: OperatorRole | None) -> frozenset[Permission]:
    """What operators of that role may do beside reading; nothing without a role."""
    return _ALLOWED[role] if role else frozenset()


def check(role: OperatorRole | None, permission: Permission | None) -> None:
    """Raise `Forbidden` unless the role allows it; None: everybody may."""
    if permission is not None and permission not in allowed(role):
        holders = " or ".join(each for each in OperatorRole if permission in _ALLOWED[each])
        raise Forbidden(f"Your role is {role}; this needs {holders}. Ask an administrator.")
