"""What a client generated for Python does first. Needs MATCHFEED_URL, MATCHFEED_KEY and MATCHFEED_SLOW_KEY, a
key with a few requests a minute."""

import os
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar

from matchfeed_rest import AuthenticatedClient
from matchfeed_rest.api.counter_strike_2_matches import get_match, list_match_markets, list_matches
from matchfeed_rest.api.counter_strike_2_recovery import get_recovery, request_recovery
from matchfeed_rest.api.counter_strike_2_selfcheck import compare_book
from matchfeed_rest.api.counter_strike_2_settlements import list_settlements
from matchfeed_rest.api.service import get_whoami
from matchfeed_rest.models.digest import Digest
from matchfeed_rest.models.held_match import HeldMatch
from matchfeed_rest.models.many_market_view import ManyMarketView
from matchfeed_rest.models.many_match_view import ManyMatchView
from matchfeed_rest.models.many_settlement_view import ManySettlementView
from matchfeed_rest.models.problem import Problem
from matchfeed_rest.models.refused import Refused
from matchfeed_rest.models.single_match_view import SingleMatchView
from matchfeed_rest.models.single_recovery_state_view import SingleRecoveryStateView
from matchfeed_rest.models.single_recovery_view import SingleRecoveryView
from matchfeed_rest.models.single_self_check_view import SingleSelfCheckView
from matchfeed_rest.models.single_whoami_view import SingleWhoamiView

T = TypeVar("T")
_NODE = "71"
_PATIENCE_SECONDS = 120.0


def expect(kind: type[T], answer: object) -> T:
    """The answer, which is of this kind; raises `SystemExit` with what came instead."""
    if not isinstance(answer, kind):
        raise SystemExit(f"expected {kind.__name__}, got {answer}")
    return answer


def until(what: str, found: Callable[[], T | None]) -> T:
    """Call `found` until it returns something."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (result := found()) is None:
        if time.monotonic() > deadline:
            raise SystemExit(f"waited {_PATIENCE_SECONDS} s in vain: {what}")
        time.sleep(0.5)
    return result


def client_of(key: str) -> AuthenticatedClient:
    url = os.environ["MATCHFEED_URL"]
    return AuthenticatedClient(base_url=url, token=key, prefix="", auth_header_name="X-API-Key")


def read_match(client: AuthenticatedClient) -> str:
    """A live match with its markets; its URN."""
    listed = expect(ManyMatchView, list_matches.sync(client=client, status="live", limit=1))
    urn = expect(str, listed.data[0].urn)  # keys without the scope of it do not see it
    match = expect(SingleMatchView, get_match.sync(urn, client=client)).data
    markets = expect(ManyMarketView, list_match_markets.sync(urn, client=client)).data
    print(f"{match.team_a} - {match.team_b}: {len(markets)} markets")
    return urn


def read_settlements(client: AuthenticatedClient) -> None:
    """Three pages of the ledger, each from where the last one ended."""
    last, ids = 0, list[int]()
    for _ in range(3):
        page = expect(ManySettlementView, list_settlements.sync(client=client, since_id=last, limit=5))
        ids += [entry.id for entry in page.data]
        last = ids[-1] if ids else 0
    if ids != sorted(set(ids)) or len(ids) != 15:
        raise SystemExit(f"entries repeat or are missing: {ids}")
    print(f"settlements {ids[0]} to {ids[-1]}")


def read_refusals(client: AuthenticatedClient, slow: AuthenticatedClient) -> None:
    """404, 403, 422 and 429, each with its type."""
    missing = get_match.sync_detailed("od:match:999999999", client=client)
    assert missing.status_code is HTTPStatus.NOT_FOUND
    print(f"404: {expect(Refused, missing.parsed).detail}")
    unknown = get_whoami.sync_detailed(client=client_of("mfk_unknown"))
    assert unknown.status_code is HTTPStatus.FORBIDDEN
    print(f"403: {expect(Refused, unknown.parsed).detail}")
    invalid = list_matches.sync_detailed(client=client, limit=0)
    assert invalid.status_code is HTTPStatus.UNPROCESSABLE_ENTITY
    fields = expect(Problem, invalid.parsed).detail
    print(f"422: {[field.loc for field in fields if not isinstance(field, str)]}")
    limited = until("429", lambda: _refused(slow))
    print(f"429: {limited.detail}")


def _refused(slow: AuthenticatedClient) -> Refused | None:
    answer = get_whoami.sync_detailed(client=slow)
    if answer.status_code is not HTTPStatus.TOO_MANY_REQUESTS:
        return None
    assert int(answer.headers["Retry-After"]) > 0
    return expect(Refused, answer.parsed)


def recover(client: AuthenticatedClient) -> None:
    """A full recovery; while another one of this node runs, the request is refused and made again."""
    number = str(time.time_ns() // 1000)
    accepted = until("a recovery is accepted", lambda: _accepted(client, number))
    completed = until("it is complete", lambda: _completed(client, number))
    print(f"recovery {accepted.data.request_id}: {completed.data.state}")


def _accepted(client: AuthenticatedClient, number: str) -> SingleRecoveryView | None:
    answer = request_recovery.sync_detailed(client=client, after=0, request_id=number, node_id=_NODE)
    if answer.status_code is HTTPStatus.CONFLICT:
        return None
    return expect(SingleRecoveryView, answer.parsed)


def _completed(client: AuthenticatedClient, number: str) -> SingleRecoveryStateView | None:
    found = expect(SingleRecoveryStateView, get_recovery.sync(number, client=client, node_id=_NODE))
    return found if found.data.state == "completed" else None


def compare(client: AuthenticatedClient, urn: str) -> None:
    """A book of one match, as REST has it, is compared until both are of one moment."""
    compared = until("both books are equal", lambda: _equal(client, urn))
    print(f"self-check: {compared.data.markets} markets, {compared.data.count} differences")


def _equal(client: AuthenticatedClient, urn: str) -> SingleSelfCheckView | None:
    open_now = expect(ManyMarketView, list_match_markets.sync(urn, client=client)).data
    held = HeldMatch(
        urn, [[each.id, each.specifiers, -1 if each.suspended else 1, each.odds] for each in open_now]
    )
    compared = expect(
        SingleSelfCheckView, compare_book.sync(client=client, body=Digest([held], complete=False))
    )
    return compared if compared.data.count == 0 and open_now else None


def main() -> None:
    client, slow = client_of(os.environ["MATCHFEED_KEY"]), client_of(os.environ["MATCHFEED_SLOW_KEY"])
    who = expect(SingleWhoamiView, get_whoami.sync(client=client)).data
    print(f"{who.name}: {len(who.scopes)} scopes")
    urn = read_match(client)
    read_settlements(client)
    read_refusals(client, slow)
    recover(client)
    compare(client, urn)


if __name__ == "__main__":
    main()
