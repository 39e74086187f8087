"""What a key is issued with, and the check that it makes sense."""

from ipaddress import ip_network
from typing import Any

import msgspec

from app.domain import scopes, sports
from app.domain.tenant import RATE_LIMIT_RPM
from app.kit.errors import Field, Invalid

_SPORTS = frozenset(sport.slug for sport in sports.LIVE)


class KeyProperties(msgspec.Struct, frozen=True, kw_only=True):
    """`bundles` and raw `scopes` add up and are kept as scopes only. `finished_only` is the key's own
    property; the bundle made for it switches it on. `networks` limits where the key may be used from."""

    bundles: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    sports: tuple[str, ...] = ("cs2",)
    label: str = ""
    rate_limit_rpm: int = RATE_LIMIT_RPM
    finished_only: bool = False
    operator: bool = False
    networks: tuple[str, ...] = ()


class KeyAlteration(msgspec.Struct, frozen=True, kw_only=True):
    """What may change about an issued key; None leaves it as it is."""

    sports: tuple[str, ...] | None = None
    networks: tuple[str, ...] | None = None
    rate_limit_rpm: int | None = None
    label: str | None = None


def validate_properties(asked: KeyProperties) -> dict[str, Any]:
    """The fields of a `Key` that `asked` comes to; raises `Invalid` with every field that does not fit."""
    problems = [
        *_unknown("bundles", asked.bundles, frozenset(scopes.BUNDLES)),
        *_unknown("scopes", asked.scopes, scopes.ALL),
        *_unknown("sports", asked.sports, _SPORTS),
        *_rate_problems(asked.rate_limit_rpm),
        *_network_problems(asked.networks),
        *_contradictions(asked),
    ]
    if problems:
        raise Invalid(*problems)
    granted = frozenset(asked.scopes).union(*(scopes.BUNDLES[bundle] for bundle in asked.bundles))
    return {
        "label": asked.label,
        "scopes": granted,
        "sports": frozenset(asked.sports),
        "networks": tuple(sorted(set(asked.networks))),
        "rate_limit_rpm": asked.rate_limit_rpm,
        "finished_only": asked.finished_only or scopes.FINISHED_ONLY_BUNDLE in asked.bundles,
        "operator": asked.operator or scopes.OPERATOR_BUNDLE in asked.bundles,
    }


def validate_alteration(asked: KeyAlteration) -> dict[str, Any]:
    """The fields of a `Key` that change; raises `Invalid` with every field that does not fit."""
    problems = [
        *_unknown("sports", asked.sports or (), _SPORTS),
        *_rate_problems(asked.rate_limit_rpm),
        *_network_problems(asked.networks or ()),
    ]
    if problems:
        raise Invalid(*problems)
    fields: dict[str, Any] = {"label": asked.label, "rate_limit_rpm": asked.rate_limit_rpm}
    if asked.sports is not None:
        fields["sports"] = frozenset(asked.sports)
    if asked.networks is not None:
        fields["networks"] = tuple(sorted(set(asked.networks)))
    return {name: value for name, value in fields.items() if value is not None}


def _rate_problems(rpm: int | None) -> list[Field]:
    if rpm is None or 1 <= rpm <= 1_000_000:
        return []
    return [Field(("rate_limit_rpm",), "A rate limit is 1 to 1000000 requests a minute.", "range", rpm)]


def _network_problems(networks: tuple[str, ...]) -> list[Field]:
    return [
        Field(("networks", place), "This is neither an address nor a network.", "network", network)
        for place, network in enumerate(networks)
        if not _is_network(network)
    ]


def _unknown(name: str, given: tuple[str, ...], known: frozenset[str]) -> list[Field]:
    return [
        Field((name, place), f"Choose from {', '.join(sorted(known))}.", "unknown", word)
        for place, word in enumerate(given)
        if word not in known
    ]


def _contradictions(asked: KeyProperties) -> list[Field]:
    """A key sees finished matches only, or it does not: what asks for both is a mistake."""
    if scopes.FINISHED_ONLY_BUNDLE in asked.bundles and (len(asked.bundles) > 1 or asked.scopes):
        advice = f"{scopes.FINISHED_ONLY_BUNDLE} limits the whole key; issue a second key for the rest."
        return [Field(("bundles",), advice, "contradiction", list(asked.bundles))]
    if not asked.bundles and not asked.scopes:
        return [Field(("scopes",), "A key needs a bundle or a scope.", "missing")]
    return []


def _is_network(text: str) -> bool:
    try:
        ip_network(text)
    except ValueError:
        return False
    return True
