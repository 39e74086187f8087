"""The signed ledger: its newest heads, the public keys, and how to verify it."""

from litestar import Response

from app.http.handlers import get
from app.sites.pages.rendering import page
from app.sites.pages.sessions import SignedInRequest
from app.sites.portal.dependencies import Portal
from app.store import ledger

_HEADS = 25


@get("/ledger")
async def ledger_page(request: SignedInRequest, portal: Portal) -> Response[str]:
    """Heads and keys, newest first."""
    async with portal.store.snapshot() as tx:
        heads = await ledger.newest_heads(tx, limit=_HEADS)
        keys = await ledger.keys(tx)
    command = (
        f"python save_ledger.py --url {portal.public_url} --key YOUR_KEY --directory ledger\n"
        "python verify_ledger.py --directory ledger"
    )
    return page(
        request,
        "signed_ledger.html",
        heads=[each.head for each in heads],
        keys=keys[::-1],
        command=command,
        address=f"{portal.public_url}/.well-known/matchfeed-ledger-keys",
    )
