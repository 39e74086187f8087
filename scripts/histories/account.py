"""A tenant of the runs: what it logs in with, made by operators."""

from uuid import uuid4

import msgspec

from scripts.histories.operators import Operators

_RIGHTS = {"bundles": ["cs2.odds.basic", "cs2.odds.scoreboard-addon"], "rate_limit_rpm": 100_000}


class Account(msgspec.Struct):
    """`key` may be replaced at any time."""

    slug: str
    tenant_id: str
    amqp_url: str
    key: str
    key_id: str
    exchange: str


async def opened(operators: Operators, name: str) -> Account:
    """A new tenant with a vhost and a key."""
    slug = f"{name}-{uuid4().hex[:6]}"
    made = await operators.insist("POST", "/ops/v1/tenants", {"slug": slug, "name": slug})
    broker = await operators.insist("POST", f"/ops/v1/tenants/{slug}/amqp")
    key = await operators.insist("POST", f"/ops/v1/tenants/{slug}/keys", _RIGHTS)
    key_id = key["key"]["key_id"]
    return Account(slug, made["tenant_id"], broker["amqp_url"], key["api_key"], key_id, broker["exchange"])


async def renew_key(operators: Operators, account: Account) -> None:
    """Issue another key, use it, and revoke the one before."""
    keys = f"/ops/v1/tenants/{account.slug}/keys"
    made = await operators.insist("POST", keys, _RIGHTS)
    former, account.key, account.key_id = account.key_id, made["api_key"], made["key"]["key_id"]
    await operators.insist("POST", f"{keys}/{former}/revoke")
