"""A Prometheus of our own on loopback, with an empty database, that scrapes each second."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from scripts.local_services import ports, prometheus

_START_SECONDS = 60.0


class PrometheusServer:
    """A running Prometheus, by its HTTP API."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=10, trust_env=False)

    def firing(self) -> frozenset[str]:
        """The alerts that fire, `Name` or `Name/window`."""
        labels = [each["labels"] for each in self._get("alerts", {})["alerts"] if each["state"] == "firing"]
        return frozenset("/".join(filter(None, (one["alertname"], one.get("window")))) for one in labels)

    def value(self, query: str) -> float:
        """The value of a query with one result; NaN without any."""
        result = self._get("query", {"query": query})["result"]
        return float(result[0]["value"][1]) if result else float("nan")

    def is_ready(self) -> bool:
        try:
            return self._http.get("/-/ready").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def _get(self, path: str, query: Mapping[str, str]) -> Any:
        return self._http.get(f"/api/v1/{path}", params=dict(query)).raise_for_status().json()["data"]

    def close(self) -> None:
        self._http.close()


@contextmanager
def running(directory: Path, port: int, rules: str, targets: Mapping[str, str]) -> Iterator[PrometheusServer]:
    """A Prometheus with these rules that scrapes these targets (URLs by the name of the process), until the
    end of the block. Raises `ServiceError` where there is none, `TimeoutError` where it does not start."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "rules.yml").write_text(rules)
    (directory / "prometheus.yml").write_text(json.dumps(_config(targets)))
    listen = f"{ports.LOOPBACK}:{port}"
    command = [
        str(prometheus.programs().prometheus),
        f"--config.file={directory / 'prometheus.yml'}",
        f"--storage.tsdb.path={directory / 'data'}",
        f"--web.listen-address={listen}",
    ]
    with (directory / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        server = PrometheusServer(f"http://{listen}")
        try:
            if not ports.wait_until(server.is_ready, alive=lambda: True, seconds=_START_SECONDS):
                raise TimeoutError("Prometheus does not start; see its log")
            yield server
        finally:
            server.close()
            process.terminate()
            process.wait()


def _config(targets: Mapping[str, str]) -> dict[str, Any]:
    """JSON is YAML."""
    every = "1s"
    return {
        "global": {"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every},
        "rule_files": ["rules.yml"],
        "scrape_configs": [
            {
                "job_name": "matchfeed",
                "static_configs": [{"targets": [urlsplit(url).netloc for url in targets.values()]}],
            }
        ],
    }
