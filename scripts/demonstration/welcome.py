"""What a visitor is told once the demo is ready."""

from typing import Any

import msgspec

from scripts.housekeeping.telling import tell

from .places import DESCRIPTION


def welcome() -> None:
    """What a visitor needs first."""
    demo: dict[str, Any] = msgspec.json.decode(DESCRIPTION.read_bytes())
    tell(f"\nready: {demo['base_url']}   (WebSocket {demo['ws_url']}; everything below is in var/demo.json)")
    for tenant in demo["tenants"]:
        tell(f"  {tenant['slug']:10} key {tenant['api_key']}")
        if tenant["amqp_url"]:
            tell(f"  {'':10} AMQP {tenant['amqp_url']}  exchange {demo['exchange']}")
    tell(f"  {'operator':10} key {demo['operator_key']}")
    tell(f"  {'':10} at  {demo['operator_url']}/ops/v1")
    key = demo["tenants"][0]["api_key"]
    tell(f"try:  curl -H 'X-Api-Key: {key}' '{demo['base_url']}/cs2/v1/matches?status=live'")
    tell("      .venv/bin/python scripts/consumer.py acme")
    tell("      . var/demo.env && .venv/bin/matchfeed fault     (break something, and watch it heal)")
    tell(f"look: {demo['board']['url']}")
    tell("end:  Ctrl-C, or ./scripts/demo --stop when detached")
