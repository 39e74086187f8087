"""The upgrade from the newest version that CHANGELOG.md names to the present one, under load.

    python -m scripts.upgrade [--matches 6] [--speed 10] [--before 60] [--beside 30] [--commit HASH]

Takes that version (or another commit) from the repository's history, with the packages that it pinned, into
`var/upgrade`. It makes the database, the broker's vhosts, tenants and keys; its simulator plays matches;
bookmakers, a stream and users of REST are clients. Then the present version's migrations run, and its
processes replace the former ones in the order of docs/deploy.md, each beside the former one for `--beside`
seconds. Fails with what is not as it must be. Everything that it starts ends with it; the processes' logs
stay in `var/upgrade/run/log`.
"""

import argparse
import asyncio
import shutil
import signal

from scripts.lab.record import ROOT
from scripts.local_services.processes import ServiceError
from scripts.upgrade.balancer import haproxy
from scripts.upgrade.drill import Drill, Outcome, Plan
from scripts.upgrade.installation import FormerVersion, Installation, newest_release

HOME = ROOT / "var" / "upgrade"


async def drilled(plan: Plan, commit: str) -> Outcome:
    haproxy()  # before servers are started that nobody would stop
    former = FormerVersion(HOME / commit, commit)
    shutil.rmtree(HOME / "run", ignore_errors=True)
    (HOME / "run").mkdir(parents=True)
    installation = Installation(HOME / "run", former)
    try:
        drill = Drill(installation, plan)
        try:
            return await drill.run()
        finally:
            await drill.close()
    finally:
        installation.close()


def summary(plan: Plan, commit: str, found: Outcome) -> str:
    """The outcome in figures, then what is wrong."""
    got = found.received
    lines = [
        f"{commit} to the present version: {plan.matches} matches at {plan.speed:g} times speed",
        "| step | seconds | longest silence, s | repeated |",
        "|---|---|---|---|",
        *(
            f"| {each.name} | {each.seconds:.0f} | {each.silence:.1f} | {each.repeated} |"
            for each in found.steps
        ),
        f"{got.messages} live messages at {found.connections} connections: {len(got.lost)} lost, "
        f"{got.missed} missed and recovered by clients that had to reconnect, "
        f"{got.invented} invented, {got.repeated} repeated, "
        f"{got.back} numbers went back, {got.ambiguous} had two meanings",
        f"longest time without an open market: {found.shut:.1f} s; "
        f"matchfeed migrate: {found.migrate_seconds:.1f} s",
        f"recoveries: {found.recoveries[0]} of everything, {found.recoveries[1]} of a match",
        f"stream: {found.stream.frames} frames at {found.stream.connections} connections, "
        f"{len(found.stream.settlements)} settlements, {found.stream.snapshots} snapshots, "
        f"silent for {found.stream.silence:.1f} s at most",
        f"requests by status: {dict(found.requests)}; the slowest took {found.slowest:.2f} s",
        *(f"HAProxy, {name}: {each}" for name, each in found.balancer.items()),
        f"{found.ledger.entries} ledger entries of {found.ledger.matches} matches audited, "
        f"{len(found.ledger.wrong)} differences; wrong in all: {len(found.wrong)}",
    ]
    return "\n".join((*lines, *found.wrong[:50]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--matches", type=int, default=6)
    parser.add_argument("--speed", type=float, default=10.0)
    parser.add_argument("--before", type=float, default=60.0, help="seconds")
    parser.add_argument("--beside", type=float, default=30.0, help="seconds")
    parser.add_argument(
        "--commit", help="of the former version (default: the newest that CHANGELOG.md names)"
    )
    options = vars(parser.parse_args())
    commit = options.pop("commit")
    plan = Plan(**options)
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))  # ends what was started, too
    try:
        commit = commit or newest_release()
        found = asyncio.run(drilled(plan, commit))
    except ServiceError as error:
        raise SystemExit(f"upgrade: {error}") from error
    print(summary(plan, commit, found), flush=True)
    raise SystemExit(1 if found.wrong else 0)


if __name__ == "__main__":
    main()
