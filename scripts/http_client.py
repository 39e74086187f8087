"""HTTP requests of the scripts, with an API key."""

import httpx


def client(base_url: str | httpx.URL, key: str, seconds: float = 30) -> httpx.AsyncClient:
    """A client with this key, which waits so long; proxies that the environment names are not asked."""
    return httpx.AsyncClient(base_url=base_url, headers={"X-API-Key": key}, timeout=seconds, trust_env=False)
