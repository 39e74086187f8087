"""API keys: their format, and the properties that one is issued with.

A key is `mfk_`, 43 random characters (256 bits), 6 of checksum. The prefix lets secret scanners find a leaked
key; the checksum distinguishes a mistyped key from an unknown one without a database query.
"""

import hmac
import re
import secrets
from functools import lru_cache
from hashlib import blake2b
from ipaddress import ip_network
from typing import Any
from zlib import crc32

import msgspec

from app.domain import ids, scopes
from app.domain.tenant import RATE_LIMIT_RPM
from app.kit.errors import Field, Invalid

PREFIX = "mfk_"
HINT_LENGTH = 8
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BODY_LENGTH = 43
_CHECK_LENGTH = 6
_FORM = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{_BODY_LENGTH + _CHECK_LENGTH}}}")
_PERSON = b"matchfeed key"
_MAX_RPM = 1_000_000
_SPORTS = frozenset(sport.slug for sport in ids.LIVE)


def new_key() -> str:
    """A new key."""
    body = PREFIX + _base62(secrets.randbits(256), _BODY_LENGTH)
    return body + _checksum(body)


def is_key(raw: str) -> bool:
    """Whether `raw` has the format and the checksum of a key."""
    if not _FORM.fullmatch(raw):
        return False
    return hmac.compare_digest(_checksum(raw[:-_CHECK_LENGTH]), raw[-_CHECK_LENGTH:])


def key_hash(raw: str, secret: str) -> bytes:
    """What is stored of a key: 32 bytes that cannot be recomputed without `secret`."""
    return blake2b(raw.encode(), digest_size=32, key=_hash_key(secret), person=_PERSON).digest()


@lru_cache(maxsize=4)
def _hash_key(secret: str) -> bytes:
    return blake2b(secret.encode(), digest_size=64, person=_PERSON).digest()


def hint(raw: str) -> str:
    """The first characters, by which people distinguish keys; far too few to guess the rest."""
    return raw[:HINT_LENGTH]


def _checksum(body: str) -> str:
    return _base62(crc32(body.encode()), _CHECK_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


class KeyProperties(msgspec.Struct, frozen=True, kw_only=True):
    """`bundles` and raw `scopes` add up and are stored as scopes only. `finished_only` is the key's own
    property; the bundle of that purpose sets it. `networks` limits the addresses that may use the key."""

    bundles: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    sports: tuple[str, ...] = ("cs2",)
    label: str = ""
    rate_limit_rpm: int = RATE_LIMIT_RPM
    finished_only: bool = False
    operator: bool = False
    networks: tuple[str, ...] = ()


class KeyAlteration(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of an issued key; None leaves a property as it is."""

    sports: tuple[str, ...] | None = None
    networks: tuple[str, ...] | None = None
    rate_limit_rpm: int | None = None
    label: str | None = None


def validate_properties(properties: KeyProperties) -> dict[str, Any]:
    """The fields of a `Key` with these properties; raises `Invalid` with every field that does not fit."""
    problems = [
        *_unknown("bundles", properties.bundles, frozenset(scopes.BUNDLES)),
        *_unknown("scopes", properties.scopes, scopes.ALL),
        *_unknown("sports", properties.sports, _SPORTS),
        *_rate_problems(properties.rate_limit_rpm),
        *_network_problems(properties.networks),
        *_contradictions(properties),
    ]
    if problems:
        raise Invalid(*problems)
    granted = frozenset(properties.scopes).union(*(scopes.BUNDLES[bundle] for bundle in properties.bundles))
    return {
        "label": properties.label,
        "scopes": granted,
        "sports": frozenset(properties.sports),
        "networks": tuple(sorted(set(properties.networks))),
        "rate_limit_rpm": properties.rate_limit_rpm,
        "finished_only": properties.finished_only or scopes.FINISHED_ONLY_BUNDLE in properties.bundles,
        "operator": properties.operator or scopes.OPERATOR_BUNDLE in properties.bundles,
    }


def validate_alteration(alteration: KeyAlteration) -> dict[str, Any]:
    """The fields of a `Key` that change; raises `Invalid` with every field that does not fit."""
    problems = [
        *_unknown("sports", alteration.sports or (), _SPORTS),
        *_rate_problems(alteration.rate_limit_rpm),
        *_network_problems(alteration.networks or ()),
    ]
    if problems:
        raise Invalid(*problems)
    fields: dict[str, Any] = {"label": alteration.label, "rate_limit_rpm": alteration.rate_limit_rpm}
    if alteration.sports is not None:
        fields["sports"] = frozenset(alteration.sports)
    if alteration.networks is not None:
        fields["networks"] = tuple(sorted(set(alteration.networks)))
    return {name: value for name, value in fields.items() if value is not None}


def _rate_problems(rpm: int | None) -> list[Field]:
    if rpm is None or 1 <= rpm <= _MAX_RPM:
        return []
    what = f"A rate limit is 1 to {_MAX_RPM} requests a minute."
    return [Field(("rate_limit_rpm",), what, "range", rpm, {"lowest": 1, "highest": _MAX_RPM})]


def _network_problems(networks: tuple[str, ...]) -> list[Field]:
    return [
        Field(("networks", place), "This is neither an address nor a network.", "network", network)
        for place, network in enumerate(networks)
        if not _is_network(network)
    ]


def _unknown(field: str, values: tuple[str, ...], known: frozenset[str]) -> list[Field]:
    return [
        Field((field, place), f"Choose from {', '.join(sorted(known))}.", "unknown", value)
        for place, value in enumerate(values)
        if value not in known
    ]


def _contradictions(properties: KeyProperties) -> list[Field]:
    """A key sees finished matches only, or it does not: requesting both is an error."""
    if scopes.FINISHED_ONLY_BUNDLE in properties.bundles and (
        len(properties.bundles) > 1 or properties.scopes
    ):
        advice = f"{scopes.FINISHED_ONLY_BUNDLE} limits the whole key; issue a second key for the rest."
        return [Field(("bundles",), advice, "contradiction", list(properties.bundles))]
    if not properties.bundles and not properties.scopes:
        return [Field(("scopes",), "A key needs a bundle or a scope.", "missing")]
    return []


def _is_network(text: str) -> bool:
    try:
        ip_network(text)
    except ValueError:
        return False
    return True
