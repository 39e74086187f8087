"""What a user's role allows. Everybody who is signed in may read what concerns the tenant."""

from enum import StrEnum

from app.domain.tenant import Role
from app.kit.errors import Forbidden


class Permission(StrEnum):
    """What a route requires in its `opt["permission"]`."""

    PEOPLE = "people"  #: invite users, change their roles, end them
    CREDENTIALS = "credentials"  #: API keys and AMQP credentials
    RECOVERY = "recovery"
    OFFER = "offer"  #: which matches are booked, which market types are on


_ALLOWED = {
    Role.OWNER: frozenset(Permission),
    Role.DEVELOPER: frozenset({Permission.CREDENTIALS, Permission.RECOVERY}),
    Role.TRADER: frozenset({Permission.OFFER, Permission.RECOVERY}),
    Role.READER: frozenset[Permission](),
}
_CODES = {
    Permission.PEOPLE: "role_people",
    Permission.CREDENTIALS: "role_credentials",
    Permission.RECOVERY: "role_recovery",
    Permission.OFFER: "role_offer",
}


def allowed(role: Role) -> frozenset[Permission]:
    """What users of that role may do beside reading."""
    return _ALLOWED[role]


def check(role: Role, permission: Permission | None) -> None:
    """Raise `Forbidden` unless the role allows it; None: everybody may."""
    if permission is not None and permission not in _ALLOWED[role]:
        holders = " or ".join(each for each in Role if permission in _ALLOWED[each])
        what = f"Your role is {role}; this needs {holders}. Ask an owner of your tenant."
        raise Forbidden(what, code=_CODES[permission])
