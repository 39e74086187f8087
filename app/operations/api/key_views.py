"""Request and response bodies about API keys."""

from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from app.access.admin import IssuedKey
from app.access.api_keys import KeyProperties
from app.domain.ids import LIVE
from app.domain.scopes import ALL, BUNDLES
from app.domain.tenant import RATE_LIMIT_RPM
from app.kit.clock import iso_seconds
from app.store.keys import Key
from app.wire.text import iso_time

Text = Annotated[str, Meta(max_length=120)]
Name = Annotated[str, Meta(min_length=1, max_length=120)]
Rate = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 1_000_000})]
_Bundle = Annotated[Text, Meta(extra_json_schema={"enum": sorted(BUNDLES)})]
_Scope = Annotated[Text, Meta(extra_json_schema={"enum": sorted(ALL)})]
_Sport = Annotated[Text, Meta(extra_json_schema={"enum": [sport.slug for sport in LIVE]})]
Bundles = Annotated[tuple[_Bundle, ...], Meta(max_length=100)]
Scopes = Annotated[tuple[_Scope, ...], Meta(max_length=100)]
Sports = Annotated[tuple[_Sport, ...], Meta(max_length=100)]
Networks = Annotated[tuple[Text, ...], Meta(max_length=100)]


class NewKey(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bundles and raw scopes add up. `request_id` is the operator's own: a repeated request with it returns
    the same key, without its secret."""

    bundles: Bundles = ()
    scopes: Scopes = ()
    sports: Sports = ("cs2",)
    label: Text = ""
    rate_limit_rpm: Rate = RATE_LIMIT_RPM
    finished_only: bool = False
    operator: bool = False
    networks: Networks = ()
    request_id: Name | None = None

    def properties(self) -> KeyProperties:
        fields = msgspec.structs.asdict(self)
        del fields["request_id"]
        return KeyProperties(**fields)


class KeyChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Omitted fields stay unchanged."""

    sports: Sports | None = None
    networks: Networks | None = None
    rate_limit_rpm: Rate | None = None
    label: Text | None = None


class KeyView(msgspec.Struct, frozen=True):
    """A key: `hint` is its first characters."""

    key_id: UUID
    hint: str
    label: str
    active: bool
    scopes: tuple[str, ...]
    sport_allowlist: tuple[str, ...]
    networks: tuple[str, ...]
    rate_limit_rpm: int
    finished_only: bool
    operator: bool
    created_at: str
    revoked_at: str | None
    last_used_at: str | None
    replaced_by: UUID | None
    request_id: str | None


class IssuedView(msgspec.Struct, frozen=True, omit_defaults=True):
    """The requested key. `api_key` is shown once: it is absent when the key existed already."""

    key: KeyView
    api_key: str | None = None


def key_view(key: Key) -> KeyView:
    return KeyView(
        key_id=key.id,
        hint=key.hint,
        label=key.label,
        active=key.active,
        scopes=tuple(sorted(key.scopes)),
        sport_allowlist=tuple(sorted(key.sports)),
        networks=key.networks,
        rate_limit_rpm=key.rate_limit_rpm,
        finished_only=key.finished_only,
        operator=key.operator,
        created_at=iso_seconds(key.created_at),
        revoked_at=iso_time(key.revoked_at),
        last_used_at=iso_time(key.last_used_at),
        replaced_by=key.replaced_by,
        request_id=key.reference,
    )


def issued_view(issued: IssuedKey | Key) -> IssuedView:
    if isinstance(issued, Key):
        return IssuedView(key_view(issued))
    return IssuedView(key_view(issued.key), issued.raw)
