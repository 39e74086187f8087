"""The service's own processes, Redis and HAProxy on their hosts."""

import os
import sys
from collections.abc import Callable

from scripts.lab import brokers, databases
from scripts.lab.hosts import BALANCER, BROKERS, COUNTERS, DATABASES, FEED, INGEST, WEB
from scripts.lab.record import HOME, Record, log_of
from scripts.local_services import ports
from scripts.local_services.processes import ServiceError, Started, last_words
from scripts.local_services.valkey import FORGETFUL, binary

PORT, OPERATOR_PORT, AMQP_PORT = 8000, 8001, 5672
_REDIS_PORT = 6379
_ROLES = {**dict.fromkeys(INGEST, "ingest"), **dict.fromkeys(FEED, "feed")}


def settings(record: Record) -> dict[str, str]:
    """The settings of every process."""
    address = record.hosts.address
    return {
        **brokers.settings(record),
        "DATABASE_URL": databases.url(record),
        "REDIS_URL": f"redis://{address(COUNTERS)}:{_REDIS_PORT}/0",
        "RABBITMQ_PUBLIC_HOST": f"{address(BALANCER)}:{AMQP_PORT}",
        "PUBLIC_URL": f"http://{address(BALANCER)}:{PORT}",
        "OPERATOR_PORT": str(OPERATOR_PORT),
        "TRUSTED_PROXIES": address(BALANCER),
        "SECRET_KEY": record.passwords["secret"],
        "SANDBOX": "true",
    }


def start_redis(record: Record) -> None:
    address = record.hosts.address(COUNTERS)
    listen = ("--bind", address, "--port", str(_REDIS_PORT), "--protected-mode", "no")
    record.launch(COUNTERS, "redis", [binary(), *listen, *FORGETFUL])


def start(record: Record, host: str, *, clock: str = "") -> Started:
    """Start the process of ours that belongs to a host. `clock`: how far its clock is off, such as `+30s`,
    by `faketime`; what counts time only (the monotonic clock) is as it should be."""
    address = record.hosts.address(host)
    arguments = [_ROLES[host]] if host in _ROLES else ["serve", "--host", address, "--port", str(PORT)]
    if host in WEB:
        arguments += ["--operator-host", address, "--sdk-host", address]
    command = [sys.executable, "-m", "app.cli", *arguments]
    if clock:
        command = ["faketime", "-m", "--exclude-monotonic", "-f", clock, *command]
    return record.launch(host, arguments[0], command, environment={**os.environ, **settings(record)})


def start_balancer(record: Record, key: str) -> None:
    """HAProxy in front of the web processes and of the brokers; `key` is one with which readiness may be
    asked for."""
    file = HOME / BALANCER / "haproxy.cfg"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    file.write_text(_configuration(record, key))
    record.launch(BALANCER, "haproxy", ["haproxy", "-W", "-db", "-f", file])


def start_again(record: Record, host: str, notify: Callable[[str], None]) -> None:
    """What belongs to the host, from its beginning."""
    record.end(record.of_host(host))
    if host in BROKERS:
        brokers.start(record, host, settings(record), notify)
    elif host in DATABASES:
        databases.start(record, host, notify)
    elif host == COUNTERS:
        start_redis(record)
    else:
        start(record, host)


def wait(record: Record, what: str, ready: Callable[[], bool], seconds: float, host: str) -> None:
    """Wait until something is so, for as long as the host's processes live."""
    alive = lambda: bool(record.of_host(host))  # noqa: E731
    if not ports.wait_until(ready, alive=alive, seconds=seconds):
        log = log_of(host)
        raise ServiceError(f"{what}: not within {seconds:.0f} s; {host}: {last_words(log)} (in {log})")


def _configuration(record: Record, key: str) -> str:
    address = record.hosts.address
    ready = f"http-check send meth GET uri /v1/ready?parts=database,ingest_queues hdr X-API-Key {key}"
    web = "".join(f"    server {host} {address(host)}:{PORT} check inter 1s\n" for host in WEB)
    operators = "".join(f"    server {host} {address(host)}:{OPERATOR_PORT} check inter 1s\n" for host in WEB)
    amqp = brokers.ports_of(record.hosts).amqp
    mq = "".join(f"    server {host} {address(host)}:{amqp} check inter 1s\n" for host in BROKERS)
    here = address(BALANCER)
    return (
        "defaults\n    timeout connect 2s\n    timeout client 1h\n    timeout server 1h\n"
        f"listen web\n    bind {here}:{PORT}\n    mode http\n    option forwardfor\n    option httpchk\n"
        f"    {ready}\n    http-check expect status 200\n    option redispatch\n{web}"
        f"listen operators\n    bind {here}:{OPERATOR_PORT}\n    mode http\n    option forwardfor\n"
        f"    option redispatch\n{operators}"
        f"listen amqp\n    bind {here}:{AMQP_PORT}\n    mode tcp\n    balance leastconn\n{mq}"
    )
