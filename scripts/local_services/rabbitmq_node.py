"""One RabbitMQ node of our own, alone or in a cluster: its configuration and its environment."""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from .certificates import Certificate
from .rabbitmq_package import Programs

USER = "matchfeed"
PLUGINS = (
    "rabbitmq_management",
    "rabbitmq_event_exchange",
    "rabbitmq_auth_backend_http",
    "rabbitmq_auth_backend_cache",
)
#: All that this version can do but streams, whose segments no limit of ours bounds.
FEATURES = (
    "drop_unroutable_metric",
    "empty_basic_get_metric",
    "implicit_default_bindings",
    "maintenance_mode_status",
    "quorum_queue",
    "user_limits",
    "virtual_host_metadata",
)
#: What docs/security.md has every broker configured with: tenants log in with a password that the broker has,
#: and we decide what they may do; about other users the broker decides itself. Times in milliseconds.
TENANTS = """\
auth_backends.1.authn = internal
auth_backends.1.authz = cache
auth_backends.2 = internal
auth_backends.3 = cache
auth_cache.cached_backend = http
auth_cache.cache_ttl = 10000
auth_cache.cache_refusals = true
auth_http.http_method = post
auth_http.connection_timeout = 1000
auth_http.request_timeout = 2000
consumer_timeout = 900000
"""


class BrokerNode(msgspec.Struct, frozen=True):
    """Where a node listens and what it stores where. `name` is Erlang's, `NAME@HOST`; `mapper` is the port of
    epmd, `authorisation` that of `matchfeed broker-authorisation` at the same address.

    `schedulers` is the number of Erlang's threads that do the broker's work, 0 for one a core. Threads that
    wake each other for single messages cost a sixth to a quarter of the broker's processor
    (decision 0073)."""

    home: Path
    name: str
    address: str
    amqp: int
    management: int
    distribution: int
    mapper: int
    authorisation: int
    amqps: int = 0
    schedulers: int = 0

    def configure(self, password: str, certificate: Certificate | None, cluster: Sequence[str] = ()) -> None:
        """Write its configuration; `cluster` has the names of all nodes, if there are several."""
        self._discard_interrupted_start()
        for part in ("mnesia", "log", "generated"):
            (self.home / part).mkdir(parents=True, exist_ok=True)
        self.home.chmod(0o700)
        (self.home / "enabled_plugins").write_text(f"[{','.join(PLUGINS)}].\n")
        (self.home / "rabbitmq-env.conf").write_text("")
        configuration = self.home / "rabbitmq.conf"
        configuration.write_text(
            f"listeners.tcp.1 = {self.address}:{self.amqp}\n"
            f"{self._tls(certificate) if certificate else ''}"
            f"management.tcp.ip = {self.address}\n"
            f"management.tcp.port = {self.management}\n"
            "management.rates_mode = none\n"
            f"default_user = {USER}\n"
            f"default_pass = {password}\n"
            "default_user_tags.administrator = true\n"
            "disk_free_limit.absolute = 100MB\n"
            f"{TENANTS}{self._authorisation()}{_peers(cluster)}"
            "log.console = true\n"
            "log.console.level = warning\n"
            "log.file = false\n"
        )
        configuration.chmod(0o600)

    def _discard_interrupted_start(self) -> None:
        """A node enables its features, and creates its user, in its first start only. Where that one was
        interrupted, it would lack them in every later one."""
        enabled = self.home / "mnesia" / f"{self.name}-feature_flags"
        known = re.findall(r"\w+", enabled.read_text()) if enabled.exists() else FEATURES
        if not set(FEATURES) <= set(known):
            shutil.rmtree(self.home / "mnesia")

    def _tls(self, certificate: Certificate) -> str:
        return (
            f"listeners.ssl.1 = {self.address}:{self.amqps}\n"
            f"ssl_options.cacertfile = {certificate.authority}\n"
            f"ssl_options.certfile = {certificate.certificate}\n"
            f"ssl_options.keyfile = {certificate.key}\n"
            "ssl_options.verify = verify_none\n"
        )

    def _authorisation(self) -> str:
        return "".join(
            f"auth_http.{about}_path = http://{self.address}:{self.authorisation}/auth/{about}\n"
            for about in ("user", "vhost", "resource", "topic")
        )

    def environment(self, found: Programs) -> dict[str, str]:
        """The broker's whole environment; a RabbitMQ that is configured on this machine has no influence."""
        interface = self.address.replace(".", ",")
        host = self.name.rpartition("@")[2]
        schedulers = f" +S {self.schedulers}" if self.schedulers else ""
        return {
            **found.environment(),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "ERL_EPMD_PORT": str(self.mapper),
            "ERL_FLAGS": f"-start_epmd false -kernel inet_dist_use_interface {{{interface}}}{schedulers}",
            "RABBITMQ_ALLOW_INPUT": "1",
            "RABBITMQ_NODENAME": self.name,
            "RABBITMQ_USE_LONGNAME": "true" if "." in host else "false",
            "RABBITMQ_FEATURE_FLAGS": ",".join(FEATURES),
            "ERL_CRASH_DUMP": str(self.home / "erl_crash.dump"),
            "RABBITMQ_DIST_PORT": str(self.distribution),
            "RABBITMQ_CONFIG_FILE": str(self.home / "rabbitmq.conf"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(self.home / "advanced.config"),
            "RABBITMQ_CONF_ENV_FILE": str(self.home / "rabbitmq-env.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.home / "enabled_plugins"),
            "RABBITMQ_MNESIA_BASE": str(self.home / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.home / "log"),
            "RABBITMQ_GENERATED_CONFIG_DIR": str(self.home / "generated"),
            "RABBITMQ_PID_FILE": str(self.home / "pid"),
        }


def half_of_cores() -> int:
    """The schedulers of a broker that shares its machine with the service and with PostgreSQL."""
    return max(1, (os.cpu_count() or 1) // 2)


def _peers(cluster: Sequence[str]) -> str:
    """The nodes find each other by name; the smaller part of a cluster that was split stops serving."""
    if not cluster:
        return ""
    nodes = "".join(
        f"cluster_formation.classic_config.nodes.{number} = {name}\n"
        for number, name in enumerate(cluster, 1)
    )
    return (
        "cluster_formation.peer_discovery_backend = classic_config\n"
        f"{nodes}cluster_partition_handling = pause_minority\n"
    )
