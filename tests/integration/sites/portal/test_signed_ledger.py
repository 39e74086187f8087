"""The portal's page of the signed ledger."""

from app.domain.tenant import Role
from app.ledger.writer import LedgerWriter, rotate
from app.settings import Settings
from app.store import ledger
from app.store.connections import Store
from tests.integration.sites.portal.conftest import SignIn

PAGE = "/portal/ledger"


async def test_it_shows_heads_and_both_keys_and_how_to_verify(
    sign_in: SignIn, store: Store, settings: Settings
) -> None:
    reader = await sign_in(Role.READER)
    assert "There is no head yet." in (await reader.get(PAGE)).text
    await LedgerWriter(store, settings.secret_key).catch_up()
    made = await rotate(store, settings.secret_key, by="test")
    page = (await reader.get(PAGE)).text
    async with store.autocommit() as tx:
        keys = await ledger.keys(tx)
    assert all(key.public_key.hex() in page and key.id in page for key in keys)
    assert len(keys) == 2
    assert f'title="{made.head.root}"' in page
    assert "another key" in page
    assert f"save_ledger.py --url {settings.public_url.rstrip('/')}" in page
