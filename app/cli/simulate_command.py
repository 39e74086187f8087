"""For development: simulated matches, played into a running service. Apart from `sandbox_commands`, for the
demo's first price waits for it, and it needs nothing of the service but HTTP."""

import asyncio
import signal
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from uuid import uuid4

import click
import httpx

from app.cli.runtime import async_command, load_settings
from app.sandbox.simulator.anomalies import COMMON, NONE, Anomalies
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, Pace
from app.sandbox.simulator.match_simulation import simulate as played
from app.sandbox.simulator.matchday import MatchDay, MatchDayConfig
from app.sandbox.simulator.service_client import LogSender, OperatorClient, sink_address


@click.command()
@click.option("--matches", "count", default=1, show_default=True, help="How many matches.")
@click.option("--at-once", default=4, show_default=True, help="How many of them at the same time.")
@click.option("--seed", default=1, show_default=True, help="The same seed gives the same matches.")
@click.option("--speed", type=click.FloatRange(min=0.1), default=6.0, show_default=True)
@click.option("--best-of", type=click.Choice(["1", "3", "5"]), default="1", show_default=True)
@click.option("--matchday", is_flag=True, help="Without end: always some live, some upcoming, some finished.")
@click.option(
    "--unbooked-for",
    default="beta",
    show_default=True,
    help="With --matchday: the tenant for which one match is unbooked; '' for none.",
)
@click.option(
    "--oddities/--no-oddities",
    "anomalies",
    envvar="MATCHFEED_ODDITIES",
    default=True,
    show_default=True,
    help="Restored rounds, crashed servers, pauses, silence, late lines: often, with --matchday rarely.",
)
@click.option("--base-url", help="The service's address (default: the setting PUBLIC_URL).")
@click.option("--operator-url", help="The address of the operator API (default: at OPERATOR_PORT, if set).")
@click.option("--operator-key", envvar="MATCHFEED_OPERATOR_KEY", help="Required, unless --to is given.")
@click.option(
    "--to",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the log of one match to this file, at the speed of play, and need no service.",
)
@async_command
async def simulate(
    count: int,
    at_once: int,
    seed: int,
    speed: float,
    best_of: str,
    matchday: bool,
    unbooked_for: str,
    anomalies: bool,
    base_url: str | None,
    operator_url: str | None,
    operator_key: str | None,
    file: Path | None,
) -> None:
    """Create matches between fictional teams and send their logs as game servers would."""
    if file is not None:
        this_second = int(time.time()) * 1000
        _write_log(file, replace(_plan(seed, int(best_of), 1.0, NONE), begin=this_second))
        return
    if operator_key is None:
        raise click.UsageError("Give --operator-key (or MATCHFEED_OPERATOR_KEY), or --to FILE.")
    async with httpx.AsyncClient(
        timeout=10, trust_env=False, limits=httpx.Limits(max_connections=50)
    ) as client:
        settings = load_settings()
        address = base_url or settings.public_url
        operators = operator_url or settings.operator_url
        operator = OperatorClient(client, address, operator_key, operator_url=operators)
        if matchday:
            config = MatchDayConfig(speed=speed, seed=seed, unbooked_for=unbooked_for, anomalies=anomalies)
            await _until_stopped(MatchDay(client, operator, config, click.echo))
            return
        turns = asyncio.Semaphore(at_once)
        async with asyncio.TaskGroup() as group:
            for number in range(count):
                plan = _plan(seed + number, int(best_of), speed, COMMON if anomalies else NONE)
                group.create_task(_play(client, operator, plan, turns))


def _write_log(file: Path, plan: MatchPlan) -> None:
    lines, truth = played(plan)
    file.write_text("".join(f"{line.text}\n" for line in lines), "utf-8")
    scores = ", ".join(f"{one.name} {one.home_score}:{one.away_score}" for one in truth.maps)
    click.echo(f"{file}: {len(lines)} lines, {plan.home.name} v {plan.away.name}: {scores}")


async def _until_stopped(day: MatchDay) -> None:
    """Run the day until SIGTERM or SIGINT."""
    task = asyncio.create_task(day.run())
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


def _plan(seed: int, best_of: int, speed: float, anomalies: Anomalies) -> MatchPlan:
    home, away = fictional_world().pair(Random(seed))
    return MatchPlan(
        home, away, seed, 0, best_of=best_of, pace=Pace(speed), timestamps="millis", anomalies=anomalies
    )


async def _play(
    client: httpx.AsyncClient, operator: OperatorClient, plan: MatchPlan, turns: asyncio.Semaphore
) -> None:
    async with turns:
        now = time.time_ns() // 1_000_000
        match = await operator.create(
            plan, "Simulated", scheduled_at=now, reference=f"simulate-{uuid4().hex}"
        )
        lines, truth = played(replace(plan, begin=now))
        click.echo(f"od:match:{match.number} {plan.home.name} v {plan.away.name}: {len(lines)} lines")
        sender = LogSender(client, sink_address(operator.base_url, match.log_sink_url), uuid4().hex)
        await sender.send(lines, plan.pace)
        click.echo(f"od:match:{match.number} {truth.maps_won('home')}:{truth.maps_won('away')}")
