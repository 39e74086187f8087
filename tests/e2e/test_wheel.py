"""The wheel is the service: what is built here runs without this checkout."""

import asyncio
import os
import secrets
import shutil
import signal
import sys
import venv
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import httpx
import msgspec
import pytest

from app.channels.rest.console.routes import FILES
from app.kit.version import VERSION
from app.settings import Settings
from app.store.connections import open_store
from scripts.services import Services
from tests.support import databases, ports
from tests.support.eventually import eventually
from tests.support.processes import ROOT, environment, output
from tests.support.web import issuing

#: What Python and editors leave beside sources.
_LEFTOVERS = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
#: What is made from files of ours: schemas, templates, the catalogue, pages, pictures.
_FROM_FILES = (
    "/v1/schemas/feed.xsd",
    "/v1/schemas/facade.xsd",
    "/v1/docs",
    "/v1/docs/pushed",
    "/v1/docs/console",
    *(file.address for file in FILES.values()),
    "/v1/openapi.json",
    "/v1/asyncapi.json",
    "/v1/descriptions/en/markets",
    "/categories/cs2.svg",
    "/",
)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all that a wheel is built from; building leaves files beside it."""
    copy = tmp_path_factory.mktemp("sources")
    for name in ("app", "schemas"):
        shutil.copytree(ROOT / name, copy / name, ignore=_LEFTOVERS, symlinks=True)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, copy)
    return copy


@pytest.fixture(scope="module")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    _pip("wheel", "--no-build-isolation", "--wheel-dir", str(folder), str(sources))
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def binaries(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment with the wheel in it, which finds the pinned packages and no checkout."""
    place = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(place, symlinks=True)
    [packages] = place.glob("lib/python*/site-packages")
    (packages / "pinned.pth").write_text("\n".join(_pinned_packages()))
    _pip("--python", str(place / "bin" / "python"), "install", "--ignore-installed", str(wheel))
    return place / "bin"


def _pip(*arguments: str) -> None:
    command = (sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", *arguments)
    output(*command, "--no-deps", "--no-index")


def _pinned_packages() -> list[str]:
    """The folders that our packages are imported from; their own `.pth` files, among them the one that leads
    to a checkout, are not followed by an environment that names the folders."""
    folders = [folder for folder in sys.path if Path(folder).name == "site-packages"]
    assert not any((Path(folder) / "app").exists() for folder in folders)
    return folders


def _environment(settings: Settings) -> dict[str, str]:
    return {"PATH": os.defpath, "LANG": "C.UTF-8", **environment(settings)}


def test_the_wheel_has_every_file_of_app_and_the_schemas_within_it(sources: Path, wheel: Path) -> None:
    ours = {
        str(Path(folder, name).relative_to(sources))
        for folder, _, names in os.walk(sources / "app", followlinks=True)
        for name in names
    }
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == ours
    assert {"app/schemas/feed.xsd", "app/py.typed"} <= packed


def test_the_installed_wheel_is_not_the_checkout(binaries: Path, tmp_path: Path) -> None:
    code = "import app; print(app.__file__)"
    found = output(binaries / "python", "-c", code, cwd=tmp_path, env={})
    assert Path(found.strip()).is_relative_to(binaries.parent)


def test_wheel_and_command_have_one_version(wheel: Path, binaries: Path, tmp_path: Path) -> None:
    found = output(binaries / "matchfeed", "--version", cwd=tmp_path, env={"LANG": "C.UTF-8"})
    assert found == f"matchfeed, version {VERSION}\n"
    assert wheel.name.split("-")[:2] == ["matchfeed", VERSION]


def test_the_wheel_prices_a_log_without_anything_else(binaries: Path, tmp_path: Path) -> None:
    bare = {"LANG": "C.UTF-8"}
    output(binaries / "matchfeed", "simulate", "--to", "match.log", "--seed", "7", cwd=tmp_path, env=bare)
    priced = output(binaries / "matchfeed", "price", "match.log", cwd=tmp_path, env=bare)
    assert "Results of " in priced


@asynccontextmanager
async def _running(binaries: Path, directory: Path, settings: Settings, *command: str) -> AsyncIterator[Any]:
    """`matchfeed <command>` of the wheel, outside every checkout; it must exit cleanly on SIGTERM."""
    log = directory / f"{command[0]}.log"
    with log.open("wb") as sink:
        process = await asyncio.create_subprocess_exec(
            *(binaries / "matchfeed", *command),
            cwd=directory,
            env=_environment(settings),
            stdout=sink,
            stderr=sink,
        )
    try:
        yield process
        assert process.returncode is None, log.read_text()
    finally:
        if process.returncode is None:
            process.terminate()
        status = await asyncio.wait_for(process.wait(), 60)
    assert status in (0, -signal.SIGTERM), (command, status, log.read_text())


@pytest.fixture
async def fresh(services: Services, settings: Settings) -> AsyncIterator[Settings]:
    """Settings that lead to a database which does not exist yet."""
    name = f"matchfeed_wheel_{secrets.token_hex(4)}"
    url = databases.named(services.database_url, name)
    yield msgspec.structs.replace(settings, database_url=url)
    await databases.drop(services.database_url, name)


async def test_the_service_runs_from_the_wheel(binaries: Path, fresh: Settings, tmp_path: Path) -> None:
    """Migrated and started as in production, with nothing of the checkout in reach, all parts are healthy."""
    settings, [port] = fresh, ports.spare(1)
    done = output(binaries / "matchfeed", "migrate", cwd=tmp_path, env=_environment(settings))
    assert "up to date" in done
    async with AsyncExitStack() as stack:
        for command in (("serve", "--port", str(port)), ("ingest",), ("feed",)):
            await stack.enter_async_context(_running(binaries, tmp_path, settings, *command))
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}"))
        store = await stack.enter_async_context(await open_store(settings.database_url, 2))
        client.headers["X-API-Key"] = await issuing(store, settings.secret_key)(bundles=("cs2.odds.basic",))
        await eventually(lambda: _health(client), lambda parts: set(parts.values()) == {"ok"}, 60)
        statuses = {path: (await client.get(path)).status_code for path in _FROM_FILES}
        assert set(statuses.values()) == {200}, statuses
        assert (await client.get("/v1/health")).json()["data"]["version"] == VERSION
        for document in ("/v1/openapi.json", "/v1/asyncapi.json"):
            assert (await client.get(document)).json()["info"]["version"] == VERSION


async def _health(client: httpx.AsyncClient) -> dict[str, str]:
    try:
        answer = await client.get("/v1/health")
    except httpx.TransportError as error:
        return {"web": str(error) or type(error).__name__}
    parts: dict[str, str] = answer.json()["data"]["parts"]
    return parts
