"""What SDKs read of a message beside markets and odds, as strictly as the strictest of them."""

from collections.abc import Iterator
from typing import Any

_STATUSES = {"1", "0", "-1", "-2", "-3", "-4"}
_CERTAINTIES = {"1", "2"}


def problems(root: Any) -> Iterator[str]:
    """What of a message about a match an SDK could not read, or would read as something else."""
    if root.tag == "bet_stop":
        if not root.get("groups") or root.get("market_status") not in _STATUSES:
            yield f"bet_stop: {dict(root.attrib)}"
        if len(root):
            yield "bet_stop: it has children"
    if root.tag == "bet_settlement" and root.get("certainty") not in _CERTAINTIES:
        yield f"bet_settlement: certainty {root.get('certainty')!r}"
    for market in root.iter("market"):
        if market.get("favourite") not in (None, "1"):  # one SDK knows the value 1 alone
            yield f"market: favourite {market.get('favourite')!r}"
        for outcome in market.iter("outcome"):
            if root.tag == "bet_settlement" and outcome.get("result") not in ("0", "1"):
                yield f"outcome: result {outcome.get('result')!r}"


def void_reason_values(params: str | None) -> dict[str, str]:
    """The values of `void_reason_params`; raises `ValueError` for one that is none."""
    values: dict[str, str] = {}
    for part in params.split("|") if params else ():
        name, equals, value = part.partition("=")
        if not (name and equals and value) or "=" in value or name in values:
            raise ValueError(f"void_reason_params {params!r}")
        values[name] = value
    return values
