"""The former version's broker, configured for the present version, without a restart.

docs/deploy.md has the same for an operator. The settings of rabbitmq.conf (docs/security.md) are set in the
running node; those in the file count from its next start.
"""

import os
from hashlib import blake2b
from pathlib import Path

from scripts.local_services.processes import output_of
from scripts.local_services.rabbitmq_package import programs

_EVENTS, _BACKEND, _CACHED = (
    "rabbitmq_event_exchange",
    "rabbitmq_auth_backend_http",
    "rabbitmq_auth_backend_cache",
)
_PATHS = ("user", "vhost", "resource", "topic")
_CACHE = {"cached_backend": "rabbit_auth_backend_http", "cache_ttl": "10000", "cache_refusals": "true"}
_HTTP = {"http_method": "post", "connection_timeout": "1000", "request_timeout": "2000"}
_BACKENDS = (
    "[{rabbit_auth_backend_internal, rabbit_auth_backend_cache}, rabbit_auth_backend_internal, "
    "rabbit_auth_backend_cache]"
)


class FormerBroker:
    """The private node at `home`, whose epmd is at `mapper`."""

    def __init__(self, home: Path, mapper: int) -> None:
        # The former version's scripts named it so.
        node = f"matchfeed-{blake2b(str(home).encode(), digest_size=4).hexdigest()}@localhost"
        found = programs(lambda line: None)
        self._programs = found.scripts
        self._environment = {
            **found.environment(),
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "ERL_EPMD_PORT": str(mapper),
            "RABBITMQ_NODENAME": node,
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "enabled_plugins"),
            "RABBITMQ_CONF_ENV_FILE": str(home / "rabbitmq-env.conf"),
            "RABBITMQ_MNESIA_BASE": str(home / "mnesia"),
        }

    def report_events(self) -> None:
        """Have it report which queues are bound."""
        self._control("rabbitmq-plugins", "enable", _EVENTS)

    def request_authorisation(self, port: int) -> None:
        """Have it ask us at this port what tenants may do."""
        paths = {f"{path}_path": f'"http://127.0.0.1:{port}/auth/{path}"' for path in _PATHS}
        for application, settings in ((_BACKEND, {**_HTTP, **paths}), (_CACHED, _CACHE)):
            for name, value in settings.items():
                self._set(application, name, value)
        self._control("rabbitmq-plugins", "enable", _BACKEND, _CACHED)
        self._set("rabbit", "auth_backends", _BACKENDS)

    def _set(self, application: str, name: str, value: str) -> None:
        """Persistent: it outlives the start of the plugin whose setting it is."""
        where = f"{application}, {name}, {value}, [{{persistent, true}}]"
        self._control("rabbitmqctl", "eval", f"ok = application:set_env({where}).")

    def _control(self, program: str, *arguments: str) -> None:
        output_of(
            f"{program} {' '.join(arguments)}",
            [self._programs / program, *arguments],
            environment={"PATH": os.environ.get("PATH", os.defpath), **self._environment},
        )
