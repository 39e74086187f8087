"""A drill: a backup of the running service, restored elsewhere, and everything compared.

    python -m scripts.restore [--way dump] [--way wal] [--tenants 4] [--matches 6] [--speed 3]
                              [--before 45] [--lost 30] [--after 60]

`dump`: `pg_dump`, restored as another database, with another broker that has neither users nor vhosts. `wal`:
`pg_basebackup` and archived WAL, restored by another server up to a moment after the base backup, with the
same broker. Each way plays simulated matches before the backup, after it (that is lost) and after the
restore. Fails with what is not as it must be. Everything that it starts lies under `var/restore` and ends
with it.
"""

import argparse
import asyncio
import shutil
from contextlib import ExitStack
from pathlib import Path

import msgspec

from app import settings as configuration
from app.settings import Settings
from app.store.migrations import migrate
from scripts import services
from scripts.local_services import postgresql, rabbitmq
from scripts.local_services import state as states
from scripts.local_services.certificates import ensure_certificate
from scripts.local_services.output import print_line
from scripts.restore import drill
from scripts.restore.backups import Backup, BaseBackup, Dump, archiving
from scripts.restore.drill import Outcome, Plan

HOME = Path(__file__).resolve().parents[2] / "var" / "restore"
WAYS = ("dump", "wal")


def first_services(directory: Path) -> Settings:
    """The old servers: a PostgreSQL that archives its WAL, and the others found or started."""
    with states.locked(directory):
        state = states.load(directory)
        postgresql.start(directory, state, print_line, archiving(directory / "archive"))
    found = services.start(directory, services.wanted())
    url = postgresql.named(found.database_url, "matchfeed")
    asyncio.run(migrate(url))
    own = {"DATABASE_URL": url, "RABBITMQ_INTERNAL_VHOST": "matchfeed-restore"}
    return configuration.load(found.environment() | own)


def another_broker(directory: Path, old: Settings) -> Settings:
    """The settings, with a new broker in them."""
    with states.locked(directory):
        state = states.load(directory)
        options = rabbitmq.Options(ensure_certificate(directory / "tls"))
        urls = rabbitmq.start(directory, state, options, print_line)
    return msgspec.structs.replace(
        old,
        rabbitmq_url=urls.url,
        rabbitmq_api_url=urls.api_url,
        rabbitmq_public_host=urls.url.rpartition("@")[2],
        broker_authorisation="http",
    )


def drilled(way: str, plan: Plan) -> Outcome:
    """One way, on servers of its own."""
    shutil.rmtree(HOME, ignore_errors=True)
    first, second = HOME / "first", HOME / "second"
    with ExitStack() as stack:
        for directory in (first, second):
            directory.mkdir(parents=True)
            stack.callback(services.stop, directory)
        old = new = first_services(first)
        backup: Backup
        if way == "dump":
            backup, new = Dump(old.database_url, first), another_broker(second, old)
        else:
            backup = BaseBackup(old.database_url, first / "archive", second)
        return asyncio.run(drill.run(old, new, backup, plan))


def summary(way: str, plan: Plan, found: Outcome) -> str:
    """The outcome in figures, then what is wrong."""
    kept, lost, begun = found.kept.rows, found.kept.lost, found.begun
    lines = [
        f"{way}: {plan.matches} matches at {plan.speed:g} times their speed, {plan.tenants} tenants",
        f"restored {kept['change']} changes and {kept['ledger_entry']} ledger entries, row by row the "
        "beginning of the old ones",
        f"lost with what came after the backup: {lost['change']} changes, {lost['ledger_entry']} entries",
        f"restore {found.restore_seconds:.1f} s, matchfeed restored {begun.restored_seconds:.1f} s",
        f"from the start of the processes: every tenant notified after {begun.notified_seconds:.1f} s, "
        f"recovered after {begun.recovered_seconds:.1f} s",
        f"{found.received[0]} messages before, {found.received[1]} after; {found.settlements} settlements by "
        f"since_id (100 at most); {begun.followed} of {begun.suspended} suspended matches are followed again",
        f"{found.ledger.entries} ledger entries of {found.ledger.matches} matches audited, "
        f"{len(found.ledger.wrong)} differences; wrong in all: {len(found.wrong)}",
    ]
    return "\n".join((*lines, *found.wrong[:50]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--way", choices=WAYS, action="append", help="both, if none is given")
    parser.add_argument("--tenants", type=int, default=4)
    parser.add_argument("--matches", type=int, default=6)
    parser.add_argument("--speed", type=float, default=3.0)
    parser.add_argument("--before", type=float, default=45.0, help="seconds")
    parser.add_argument("--lost", type=float, default=30.0, help="seconds")
    parser.add_argument("--after", type=float, default=60.0, help="seconds")
    options = vars(parser.parse_args())
    ways, plan = options.pop("way") or WAYS, Plan(**options)
    wrong = 0
    for way in ways:
        found = drilled(way, plan)
        print(summary(way, plan, found), flush=True)
        wrong += len(found.wrong)
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
