"""One primary among several servers is found, whatever the others do."""

from urllib.parse import urlsplit

import pytest

from app.kit.errors import Unavailable
from app.settings import Settings
from app.store import servers
from app.store.connections import open_store
from tests.support.route import Route

REFUSES = "127.0.0.1:1"


def listing(url: str, *others: str) -> str:
    parts = urlsplit(url)
    login, at, server = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{login}{at}{','.join((*others, server))}").geturl()


async def test_a_server_that_refuses_is_passed_over(settings: Settings) -> None:
    async with (
        await open_store(listing(settings.database_url, REFUSES), 2) as store,
        store.autocommit() as tx,
    ):
        assert await tx.value("SELECT 1") == 1


async def test_a_server_that_was_cut_off_is_passed_over_within_the_time_to_acquire(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "_SERVER_SECONDS", 0.3)
    async with Route("127.0.0.1", 1).open() as route:
        await route.cut_off()
        url = listing(settings.database_url, f"127.0.0.1:{route.port}")
        async with await open_store(url, 2) as store, store.autocommit() as tx:
            assert await tx.value("SELECT 1") == 1
        assert route.taken >= 1


async def test_connections_move_to_the_server_that_is_left(settings: Settings) -> None:
    server = urlsplit(settings.database_url)
    async with Route(server.hostname or "", server.port or 5432).open() as route:
        url = listing(settings.database_url, f"127.0.0.1:{route.port}")
        async with await open_store(url, 1) as store:
            assert route.taken == 1
            await route.cut()
            with pytest.raises(Unavailable):
                async with store.autocommit() as tx:
                    await tx.value("SELECT 1")
            async with store.autocommit() as tx:
                assert await tx.value("SELECT 1") == 1


async def test_a_store_is_unavailable_when_no_server_is_the_primary() -> None:
    with pytest.raises(Unavailable):
        await open_store(f"postgresql://postgres@{REFUSES},127.0.0.1:2/matchfeed", 1)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://a@h1:1/m", "postgresql://a@h1:1/m"),
        ("postgresql://a@h1,h2/m", "postgresql://a@h1,h2/m?target_session_attrs=primary"),
        (
            "postgresql://a:b%40c@h1,h2/m?sslmode=require",
            "postgresql://a:b%40c@h1,h2/m?sslmode=require&target_session_attrs=primary",
        ),
        (
            "postgresql://a@h1,h2/m?target_session_attrs=any",
            "postgresql://a@h1,h2/m?target_session_attrs=any",
        ),
    ],
)
def test_of_several_servers_the_primary_is_meant(url: str, expected: str) -> None:
    assert servers.of_primary(url) == expected
