"""Having the former version's broker request authorisation from us, without a restart of it.

docs/deploy.md has the same for an operator. The settings of rabbitmq.conf (docs/security.md) are set in the
running node; those in the file count from its next start.
"""

import os
import subprocess
from hashlib import blake2b
from pathlib import Path

from scripts.local_services.processes import ServiceError
from scripts.local_services.rabbitmq_package import programs

PLUGINS = ("rabbitmq_event_exchange", "rabbitmq_auth_backend_http", "rabbitmq_auth_backend_cache")
_PATHS = ("user", "vhost", "resource", "topic")
_CACHE = {"cached_backend": "rabbit_auth_backend_http", "cache_ttl": "10000", "cache_refusals": "true"}
_HTTP = {"http_method": "post", "connection_timeout": "1000", "request_timeout": "2000"}
_BACKENDS = (
    "[{rabbit_auth_backend_internal, rabbit_auth_backend_cache}, rabbit_auth_backend_internal, "
    "rabbit_auth_backend_cache]"
)


def enable(home: Path, mapper: int, port: int) -> None:
    """Have the private node at `home`, whose epmd is at `mapper`, request authorisation at this port."""
    node = f"matchfeed-{blake2b(str(home).encode(), digest_size=4).hexdigest()}@localhost"
    found = programs(lambda line: None)
    environment = {
        **found.environment(),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "ERL_EPMD_PORT": str(mapper),
        "RABBITMQ_NODENAME": node,
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "enabled_plugins"),
        "RABBITMQ_CONF_ENV_FILE": str(home / "rabbitmq-env.conf"),
        "RABBITMQ_MNESIA_BASE": str(home / "mnesia"),
    }
    for application, settings in (
        ("rabbitmq_auth_backend_http", {**_HTTP, **{f"{path}_path": _url(port, path) for path in _PATHS}}),
        ("rabbitmq_auth_backend_cache", _CACHE),
    ):
        for name, value in settings.items():
            _control(found.scripts, environment, "rabbitmqctl", "eval", _set(application, name, value))
    _control(found.scripts, environment, "rabbitmq-plugins", "enable", *PLUGINS)
    _control(found.scripts, environment, "rabbitmqctl", "eval", _set("rabbit", "auth_backends", _BACKENDS))


def _url(port: int, path: str) -> str:
    return f'"http://127.0.0.1:{port}/auth/{path}"'


def _set(application: str, name: str, value: str) -> str:
    """Before a plugin starts, its setting outlives the start (`persistent`)."""
    return f"ok = application:set_env({application}, {name}, {value}, [{{persistent, true}}])."


def _control(directory: Path, environment: dict[str, str], program: str, *arguments: str) -> None:
    done = subprocess.run(
        [directory / program, *arguments],
        env={"PATH": os.environ.get("PATH", os.defpath), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ServiceError(f"{program} {' '.join(arguments)}: {(done.stderr or done.stdout).strip()[-500:]}")
