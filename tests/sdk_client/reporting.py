"""The client with the habits of SDKs, and a user of it who reports what he has on offer and what he has paid.

python -m tests.sdk_client.reporting LINE     (`matchfeed certify` starts it; LINE as in `habits.LINES`)

The user offers nothing while the producer is down, folds results as our package does, and stores them. An SDK
stores nothing, and does not tell him that it was disconnected.
"""

import asyncio
import json
import os
import signal
import ssl
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from lxml import etree
from matchfeed_client import Results
from matchfeed_client.decoding import decode
from matchfeed_client.reporting import load_results

from tests.sdk_client.api import Api
from tests.sdk_client.broker import BrokerAddress
from tests.sdk_client.feed import FeedClient
from tests.sdk_client.habits import LINES
from tests.sdk_client.names import Names

_PAUSE_SECONDS = 0.1


class ReportingFeed(FeedClient):
    """`results` are folded from all that the user receives."""

    results: Results

    def _apply(self, root: Any, seq: int) -> None:
        super()._apply(root, seq)
        if message := decode(etree.tostring(root)):
            self.results.receive(message)

    def _note(self, what: str) -> None:
        """For the log of the run."""
        super()._note(what)
        print(f"{datetime.now(UTC):%H:%M:%S.%f} {what}", flush=True)

    def report(self) -> dict[str, Any]:
        """What the user has on offer: suspended while the producer is down."""
        book = self.book.digest()
        if not self.producer.up:
            for match in book["matches"]:
                match["markets"] = [[*market[:2], -1] for market in match["markets"]]
        name = f"a client with the habits of {self.habits.name}"
        return {"name": name, "version": "1", **book, "results": list(self.results.rows())}


async def report(client: ReportingFeed, url: str, saved: Path) -> None:
    """Report whatever has changed, without end."""
    reported: dict[str, Any] = {}
    async with httpx.AsyncClient(trust_env=False) as http:
        while True:
            present = client.report()
            if present != reported:
                with suppress(httpx.TransportError):
                    (await http.put(url, json=present)).raise_for_status()
                    reported = present
                    saved.with_suffix(".new").write_text(json.dumps(client.results.to_json()))
                    saved.with_suffix(".new").replace(saved)
            await asyncio.sleep(_PAUSE_SECONDS)


async def main(line: str, environment: Mapping[str, str]) -> None:
    habits = next(each for each in LINES if each.name == line)
    node = int(environment["CERTIFY_REPORT_URL"].rpartition("=")[2])
    trusted = ssl.create_default_context(cafile=environment["CERTIFY_CA_FILE"])
    saved = Path(environment["CERTIFY_STATE"]) / "results.json"
    api_url = f"https://{environment['CERTIFY_SDK_API']}"
    async with httpx.AsyncClient(base_url=api_url, verify=trusted, trust_env=False) as http:
        api = Api(http, environment["CERTIFY_API_KEY"])
        port = int(environment["CERTIFY_SDK_MQ_PORT"])
        broker = BrokerAddress(environment["CERTIFY_SDK_MQ_HOST"], port, environment["CERTIFY_CA_FILE"])
        identity = await api.identity()
        client = ReportingFeed(api, broker, identity, [Names(api, "en")], node=node, habits=habits)
        client.results = load_results(saved)
        async with asyncio.TaskGroup() as group:
            group.create_task(client.run())
            group.create_task(report(client, environment["CERTIFY_REPORT_URL"], saved))


async def _until_terminated() -> None:
    task = asyncio.create_task(main(sys.argv[1], os.environ))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


if __name__ == "__main__":
    asyncio.run(_until_terminated())
