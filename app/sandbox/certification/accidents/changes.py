"""What goes wrong with changes over HTTP: pages, server-sent events and the stream."""

import asyncio

from app.sandbox.certification.declarations import OVER_HTTP, accident
from app.sandbox.certification.http_proxy import Altered, Cut, Refusal, Request, Rule, Treated
from app.sandbox.certification.stage import RETRY_SECONDS, TOO_MANY, Stage, require_pause

_PLACE = ("since_seq", "since", "cursor", "last-event-id")
_SILENCE_SECONDS = 45.0
_PART_BYTES, _MARKET = 6_000, b'"market.'  #: of a snapshot, behind its first market, not compressed


def _changes(request: Request) -> bool:
    return request.changes


@accident(
    OVER_HTTP,
    what="The connection is cut in the middle of a round, five times.",
    client="Requests again from the last number that it has; offers nothing meanwhile that may be stale.",
    why="An answer that breaks off is requested again with the same parameters, at any process.",
)
async def cut(stage: Stage) -> None:
    playing = asyncio.create_task(stage.main.play(3))
    for _ in range(5):
        stage.http.cut()
        await asyncio.sleep(0.3)
    await playing
    await stage.connected()


@accident(
    OVER_HTTP,
    what="An answer is cut off in the middle of a frame, after 700 bytes.",
    client="Discards the half frame, and requests again from the last number before it.",
    why="Half a frame is no frame; its number must not be taken for received.",
)
async def cut_in_frame(stage: Stage) -> None:
    async with stage.requests(Cut(700), _changes, 2) as times:
        stage.http.cut()
        await stage.main.play()
        await stage.until("answers are cut off", lambda: len(times) >= 2, stage.patience)
    await stage.connected()


@accident(
    OVER_HTTP,
    what="The place that the client names is too long ago: a snapshot begins, and is cut off midway.",
    client="Does not take the part for the whole; requests again from where it was, or without a place.",
    why="What the snapshot has not shown yet is not closed, and what was missed has not come.",
)
async def snapshot_cut(stage: Stage) -> None:
    times: list[int] = []

    def rule(request: Request) -> Treated:
        if not request.changes or times:
            return None
        times.append(1)
        return Altered(request.without(*_PLACE, "accept-encoding"), Cut(_PART_BYTES, behind=_MARKET))

    await _missed(stage, rule)
    await stage.until("the snapshot is requested", lambda: bool(times), stage.patience)


@accident(
    OVER_HTTP,
    what="The place that the client names is too long ago, after a round that it missed: it gets a snapshot.",
    client="Drops what the snapshot omits; reads what it missed from the ledger, and pays no result twice.",
    why="Changes are stored for two hours. A snapshot shows what is on offer, and no results.",
)
async def too_late(stage: Stage) -> None:
    await stage.main.play_to_results()  # which the client knows
    await stage.agree()
    seen: list[Request] = []

    def rule(request: Request) -> Treated:
        if not request.changes or seen:
            return None
        seen.append(request)
        return Altered(request.without(*_PLACE))

    await _missed(stage, rule)
    await stage.until("the client resumes", lambda: bool(seen), stage.patience)


async def _missed(stage: Stage, rule: Rule) -> None:
    """Have results come that the client does not receive, then let the rule answer."""
    stage.http.rule = lambda request: Refusal(503, "Unavailable.") if request.changes else None
    stage.http.cut()
    await stage.main.play_to_results()
    await stage.published()
    stage.http.rule = rule


@accident(
    OVER_HTTP,
    what="Requests are refused with 503 three times, while a round is played.",
    client="Offers nothing, waits, and requests again from the same place.",
    why="A process that starts or stops refuses for a moment.",
)
async def refused_503(stage: Stage) -> None:
    async with stage.requests(Refusal(503, "The service is unavailable."), _changes, 3) as times:
        stage.http.cut()
        await stage.suspended()
        await stage.main.play()
        await stage.until("requests are refused", lambda: len(times) > 3, stage.patience)
    await stage.connected()


@accident(
    OVER_HTTP,
    what=f"A request is refused with 429, and Retry-After of {RETRY_SECONDS} seconds.",
    client="Requests again after these seconds, not before.",
    why="Requests that come earlier are refused, too, and count.",
)
async def refused_429(stage: Stage) -> None:
    async with stage.requests(TOO_MANY, _changes, 1) as times:
        stage.http.cut()
        await stage.main.play()
        await stage.until("it is requested again", lambda: len(times) > 1, stage.patience)
    require_pause(times)


@accident(
    OVER_HTTP,
    what="Nothing arrives any more on an open connection; a round is played.",
    client="Offers nothing after 30 seconds without alive, or without an answer; connects again.",
    why="A connection may be dead without either side noticing.",
)
async def silent(stage: Stage) -> None:
    await stage.until("the client waits for changes", stage.following)
    stage.http.stall()
    await stage.main.play()
    await stage.suspended(seconds=_SILENCE_SECONDS)
    await stage.connected()
