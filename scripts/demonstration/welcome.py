"""The lines that are printed once the demo is ready."""

from typing import Any

import msgspec

from scripts.local_services.output import print_line

from .paths import DESCRIPTION


def welcome() -> None:
    """Print addresses, keys and first commands."""
    demo: dict[str, Any] = msgspec.json.decode(DESCRIPTION.read_bytes())
    print_line(
        f"\nready: {demo['base_url']}   (WebSocket {demo['ws_url']}; everything below is in var/demo.json)"
    )
    for tenant in demo["tenants"]:
        print_line(f"  {tenant['slug']:10} key {tenant['api_key']}")
        if tenant["amqp_url"]:
            print_line(f"  {'':10} AMQP {tenant['amqp_url']}  exchange {demo['exchange']}")
    print_line(f"  {'operator':10} key {demo['operator_key']}")
    print_line(f"  {'':10} at  {demo['operator_url']}/ops/v1")
    key = demo["tenants"][0]["api_key"]
    print_line(f"try:  curl -H 'X-Api-Key: {key}' '{demo['base_url']}/cs2/v1/matches?status=live'")
    print_line("      .venv/bin/python scripts/consumer.py acme")
    print_line("      . var/demo.env && .venv/bin/matchfeed fault     (break something, and watch it heal)")
    print_line(f"look: {demo['board']['url']}")
    owner = demo["tenants"][0]["users"][0]
    print_line(f"      {demo['portal_url']}   (the portal: {owner['email']}, password {owner['password']})")
    trader = next(each for each in demo["operators"] if each["role"] == "trader")
    print_line(
        f"      {demo['console_url']}   (the console: {trader['email']}, password {trader['password']})"
    )
    print_line("end:  Ctrl-C, or ./scripts/demo --stop when detached")
