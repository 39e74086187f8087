"""How long a real server is silent, by the phase of play: what the settings SILENCE_… are chosen by.

    python -m scripts.bench.silence LOG... --home NAME --away NAME

Reads server logs (plain or gzip) in bodies of one second, as a server sends them, and prints for each phase
(`app.ingest.match_checks`) how many silences between bodies there are and how long they last, and how many of
them would suspend the match under the default settings while play counts and is not paused. A log's stamps
are whole seconds, so that a silence may be a second longer or shorter.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from uuid import UUID

import click
import msgspec

from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import cs2log, match_checks
from app.ingest.log_update import IngestConfig
from app.sandbox.simulator.service_client import read_log

_SHARES = (0.5, 0.9, 0.99, 1.0)


class Silence(msgspec.Struct, frozen=True):
    """A silence: what phase of play it began in, how many seconds it lasted, whether prices could be open."""

    phase: match_checks.PlayPhase
    seconds: int
    priced: bool
    suspends: bool


def silences(path: Path, home: str, away: str, terms: IngestConfig) -> Iterator[Silence]:
    """The silences of a log that is played at its own pace."""
    match, previous = Match(UUID(int=1), 1, home, away, ""), None
    for second, lines in groupby(read_log(path), key=lambda line: int(line.at)):
        if previous is not None:
            seconds = second - previous
            suspends = seconds * 1000 > match_checks.silence_bound(match, terms)
            yield Silence(match_checks.play_phase(match), seconds, _priced(match), suspends)
        body = "".join(f"{line.text}\n" for line in lines)
        match, _ = fold(match, cs2log.read(body, second * 1000).facts)
        previous = second


def _priced(match: Match) -> bool:
    return not (match.map is None or match.suspended or match.pause or match.warmup)


@click.command()
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--home", required=True, help="One team's name in the logs.")
@click.option("--away", required=True, help="The other's.")
def main(logs: tuple[Path, ...], home: str, away: str) -> None:
    found = [one for path in logs for one in silences(path, home, away, IngestConfig())]
    click.echo("| phase | silences | median | 90 % | 99 % | longest | that would suspend |")
    click.echo("|---|---|---|---|---|---|---|")
    for phase in ("live", "clutch", "freeze", "break"):
        of_phase = [one for one in found if one.phase == phase]
        seconds = sorted(one.seconds for one in of_phase) or [0]
        cells = [f"{seconds[min(int(share * len(seconds)), len(seconds) - 1)]} s" for share in _SHARES]
        taken = sum(one.suspends and one.priced for one in of_phase)
        click.echo(f"| {phase} | {len(of_phase)} | {' | '.join(cells)} | {taken} |")


if __name__ == "__main__":
    main()
