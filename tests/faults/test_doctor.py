"""What `matchfeed doctor` finds when something is ill: that, and what to do, and nothing else."""

import asyncio
import json
import time
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from app.broker.management import Management
from app.broker.permissions import tenant_user
from app.broker.provisioning import USER_LIMITS
from app.cli import main
from app.operations.doctor.examination import DoctorConfig, examine
from app.operations.doctor.findings import Finding, State
from app.settings import Settings
from app.store.connections import Store
from tests.faults.broker import PrivateBroker
from tests.faults.rig import rigged, until
from tests.support.command_line import set_environment
from tests.support.ports import spare
from tests.support.processes import started

REMOVE = "DELETE FROM migration WHERE id = (SELECT max(id) FROM migration) RETURNING name, app_name, ran_on"
RESTORE = "INSERT INTO migration (name, app_name, ran_on) VALUES ($1, $2, $3)"
_PATIENCE_SECONDS = 60.0


def config_of(settings: Settings) -> DoctorConfig:
    return msgspec.convert(settings, DoctorConfig, from_attributes=True)


async def ill(config: DoctorConfig) -> set[str]:
    found = await examine(config)
    assert all(each.action for each in found if each.state is not State.WELL)
    return {each.part for each in found if each.state is State.ILL}


async def until_ill(config: DoctorConfig, *parts: str) -> None:
    """Wait until exactly these parts are ill."""
    found: set[str] = set()

    async def exactly() -> bool:
        nonlocal found
        found = await ill(config)
        return found == set(parts)

    try:
        await until(f"only {parts} are ill", exactly, 60)
    except AssertionError as error:
        raise AssertionError(f"{error}; ill: {found}") from error


async def test_it_finds_what_is_ill(
    settings: Settings, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (port,) = spare(1)
    own = msgspec.structs.replace(settings, public_url=f"http://127.0.0.1:{port}")
    config = config_of(own)
    async with rigged(own, store, tmp_path) as rig:
        await rig.tenant()
        async with (
            started("serve", own, tmp_path, "--port", str(port)) as web,
            started("ingest", own, tmp_path),
            started("feed", own, tmp_path) as feed,
        ):
            await until_ill(config)
            await wrong_settings(config)
            await other_rights(own, config, rig.slugs[0])
            await missing_migration(store, config)
            await feed.end()
            await until_ill(config, "feed process")
            await web.end()
            await until_ill(config, "feed process", "web process")
            await on_the_command_line(own, monkeypatch)


@pytest.mark.long
async def test_it_finds_what_the_broker_lacks(
    settings: Settings, tmp_path: Path, broker: PrivateBroker
) -> None:
    """A broker of its own is short of memory, then stopped."""
    (port,) = spare(1)
    own = msgspec.structs.replace(broker.used_by(settings), public_url=f"http://127.0.0.1:{port}")
    config = config_of(own)
    async with (
        started("serve", own, tmp_path, "--port", str(port)),
        started("ingest", own, tmp_path),
        started("feed", own, tmp_path),
    ):
        await until_ill(config)
        await broker.starve()
        await until_ill(config, "broker alarms")
        await broker.feed()
        await until_ill(config)
        await broker.stop()
        await until_ill(config, "broker")
        await broker.start()
        await until_ill(config)


async def wrong_settings(config: DoctorConfig) -> None:
    """Addresses at which nothing answers, and operators' addresses on the public listener."""
    closed = f"127.0.0.1:{spare(1)[0]}"
    replace = msgspec.structs.replace
    assert await ill(replace(config, redis_url=f"redis://{closed}/0")) == {"redis"}
    assert await ill(replace(config, database_url=f"postgresql://postgres@{closed}/x")) == {"database"}
    assert await ill(replace(config, rabbitmq_url=f"amqp://guest:guest@{closed}")) == {"broker login"}
    assert await ill(replace(config, rabbitmq_api_url=f"http://guest:guest@{closed}")) == {"broker"}
    assert await ill(replace(config, operator_port=1)) == {"operators' listener"}
    assert await ill(replace(config, deployment="production")) == {"operators' listener"}
    missing = replace(config, sdk_port=1, sdk_certificate_file="missing.pem")
    assert await ill(missing) == {"certificate"}


async def other_rights(settings: Settings, config: DoctorConfig, slug: str) -> None:
    """Feed and web processes repair that each minute."""
    async with Management(settings.rabbitmq_api_url) as management:
        user, found = tenant_user(slug), set[str]()
        for _ in range(5):  # the repair may come first
            await management.limit_user(user, {"max-connections": 3})
            if found := await ill(config):
                break
        assert found == {"tenants at the broker"}
        await management.limit_user(user, USER_LIMITS)
    await until_ill(config)


async def missing_migration(store: Store, config: DoctorConfig) -> None:
    async with store.autocommit() as tx:
        row = await tx.row(REMOVE)
        assert row
        assert await ill(config) == {"migrations"}
        await tx.execute(RESTORE, *row.values())
    assert await ill(config) == set()


async def on_the_command_line(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    set_environment(monkeypatch, settings)
    named = set[str]()
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while named != {"feed process", "web process"} and time.monotonic() < deadline:  # see `until_ill`
        plain, as_json = [
            await asyncio.to_thread(CliRunner().invoke, main, ["doctor", *options])
            for options in ([], ["--json"])
        ]
        assert plain.exit_code == as_json.exit_code == 1
        found = msgspec.convert(json.loads(as_json.stdout), list[Finding])
        named = {each.part for each in found if each.state is State.ILL}
    assert named == {"feed process", "web process"}
    assert all(f"ILL     {part}: " in plain.stdout for part in named)
    password = settings.rabbitmq_url.split("@")[0].rpartition(":")[2]
    for secret in (settings.secret_key, password):
        assert secret not in plain.output + as_json.output


def test_a_setting_that_does_not_fit_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERATOR_PORT", "many")
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 1 and "ILL     settings: " in result.output
    assert "OPERATOR_PORT" in result.output
