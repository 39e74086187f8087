"""Servers that one setting lists: `host:port,host:port`, as PostgreSQL's URLs do."""

from urllib.parse import urlsplit


def listed_servers(listed: str, default_port: int) -> list[tuple[str, int]]:
    """Host and port of each; raises `ValueError` where one has no host or a port that is no number."""
    servers = [urlsplit(f"//{each.strip()}") for each in listed.split(",")]
    if not all(server.hostname for server in servers):
        raise ValueError(f"each of the servers needs a host: {listed}")
    return [(server.hostname or "", server.port or default_port) for server in servers]
