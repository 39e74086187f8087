"""The properties of a key, and their validation."""

from ipaddress import ip_network
from typing import Any

import msgspec

from app.domain import ids, scopes
from app.domain.tenant import RATE_LIMIT_RPM
from app.kit.errors import Field, Invalid

_MAX_RPM = 1_000_000
_SPORTS = frozenset(sport.slug for sport in ids.LIVE_SPORTS)


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
