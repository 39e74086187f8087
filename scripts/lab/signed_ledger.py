"""The signed ledger, judged by the verifier that tenants use."""

import asyncio
import sys
import tempfile
from pathlib import Path

from scripts.http_client import client
from scripts.lab.record import ROOT

_VERIFIER = ROOT / "scripts" / "verifier"


async def verify_ledger(url: str, key: str) -> tuple[str, bool]:
    """What the verifier says of the ledger as the key's tenant sees it, and whether it found no fault.
    Before the end of the first hour nothing is signed."""
    async with client(url, key) as http:
        heads = (await http.get("/v1/ledger/heads")).raise_for_status().json()["data"]
    if not heads:
        return "no hour has ended, and nothing is signed yet", True
    with tempfile.TemporaryDirectory() as name:
        place = ("--directory", name)
        saved, passed = await _run(_VERIFIER / "save_ledger.py", "--url", url, "--key", key, *place)
        return await _run(_VERIFIER / "verify_ledger.py", *place) if passed else (saved, False)


async def _run(program: Path, *arguments: str) -> tuple[str, bool]:
    """What a program says at its end, and whether it succeeded."""
    pipe = asyncio.subprocess.PIPE
    running = await asyncio.create_subprocess_exec(
        sys.executable, str(program), *arguments, stdout=pipe, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await running.communicate()
    return output.decode().strip(), running.returncode == 0
