"""A broker's address with a login."""

from urllib.parse import quote, unquote, urlsplit

import msgspec

_PORTS = {"amqp": 5672, "amqps": 5671}


class Address(msgspec.Struct, frozen=True):
    """One login on one broker; the vhost is named where it is used."""

    host: str
    port: int
    user: str
    password: str
    tls: bool = False

    def url(self, vhost: str) -> str:
        """`amqp://user:password@host:port/vhost`, each part percent-encoded."""
        scheme = "amqps" if self.tls else "amqp"
        login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        return f"{scheme}://{login}@{self.host}:{self.port}/{quote(vhost, safe='')}"


def parse(url: str) -> Address:
    """The address in an AMQP URL, its path ignored; raises `ValueError` for anything else."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError("a broker's address looks like amqp://user:password@host:port")
    return Address(
        host=parts.hostname,
        port=parts.port or _PORTS[parts.scheme],
        user=unquote(parts.username or "guest"),
        password=unquote(parts.password or "guest"),
        tls=parts.scheme == "amqps",
    )


def tenant_scheme(public_host: str, broker: Address | None = None) -> str:
    """The scheme of tenants' URLs: `amqps` where `public_host` (`host[:port]`) has the port of AMQP over TLS,
    or where we ourselves reach `broker` over TLS; else `amqp`."""
    tls = public_host.endswith(f":{_PORTS['amqps']}") or (broker is not None and broker.tls)
    return "amqps" if tls else "amqp"
