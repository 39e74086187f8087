"""A broker's address with a login: one node, or several of a cluster."""

from urllib.parse import quote, unquote, urlsplit

import msgspec

from app.kit.servers import listed_servers

_PORTS = {"amqp": 5672, "amqps": 5671}


class Node(msgspec.Struct, frozen=True):
    """Where one node of the broker accepts connections."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class Address(msgspec.Struct, frozen=True):
    """One login on every node of one broker; the vhost is named where it is used."""

    nodes: tuple[Node, ...]
    user: str
    password: str
    tls: bool = False

    def url(self, vhost: str) -> str:
        """`amqp://user:password@host:port/vhost` of the first node, each part percent-encoded."""
        return self.urls(vhost)[0]

    def urls(self, vhost: str) -> list[str]:
        """The same for each node."""
        scheme = "amqps" if self.tls else "amqp"
        login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        return [f"{scheme}://{login}@{node}/{quote(vhost, safe='')}" for node in self.nodes]


def parse(url: str) -> Address:
    """The address in an AMQP URL, `amqp://user:password@host:port,host:port`, its path ignored; raises
    `ValueError` for anything else."""
    parts = urlsplit(url)
    login, _, listed = parts.netloc.rpartition("@")
    if parts.scheme not in _PORTS or not listed:
        raise ValueError("a broker's address looks like amqp://user:password@host:port")
    user, _, password = login.partition(":")
    return Address(
        nodes=tuple(Node(*server) for server in listed_servers(listed, _PORTS[parts.scheme])),
        user=unquote(user or "guest"),
        password=unquote(password or "guest"),
        tls=parts.scheme == "amqps",
    )


def tenant_url(public_host: str, broker: Address | None, user: str, password: str, vhost: str) -> str:
    """A tenant's URL; `public_host` is `host[:port]`, the other parts are percent-encoded."""
    login = f"{quote(user, safe='')}:{quote(password, safe='')}"
    return f"{tenant_scheme(public_host, broker)}://{login}@{public_host}/{quote(vhost, safe='')}"


def tenant_scheme(public_host: str, broker: Address | None = None) -> str:
    """The scheme of tenants' URLs: `amqps` where `public_host` (`host[:port]`) has the port of AMQP over TLS,
    or where we ourselves reach `broker` over TLS; else `amqp`."""
    tls = public_host.endswith(f":{_PORTS['amqps']}") or (broker is not None and broker.tls)
    return "amqps" if tls else "amqp"
