"""Bodies leave as a game server's do: in time, in order, each byte exactly once."""

import gzip
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest

from app.sandbox.simulator.anomalies import LogLine
from app.sandbox.simulator.match_simulation import Pace
from app.sandbox.simulator.service_client import (
    LogSender,
    SendConfig,
    SinkRefused,
    Timing,
    read_log,
    sink_address,
)


class Wall:
    """A clock that moves only when the sender sleeps on it."""

    def __init__(self) -> None:
        self.now = 1000.0

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


class Sink:
    """Answers each request with the next of `answers` (200 when they have run out) and keeps all."""

    def __init__(self, wall: Wall, answers: list[int] | None = None) -> None:
        self.wall, self.answers = wall, answers or []
        self.seen: list[tuple[float, httpx.Request, int]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        status = self.answers.pop(0) if self.answers else 200
        self.seen.append((self.wall.now - 1000.0, request, status))
        return httpx.Response(status, text="answer")

    @property
    def accepted(self) -> list[httpx.Request]:
        return [request for _, request, status in self.seen if status == 200]


URL = "http://sink.test/ops/v1/matches/m/log?token=1-a"
LINES = [LogLine(float(second), f"L 01/19/2026 - 18:55:{second:02d}: line {second}é") for second in range(60)]


async def play(
    pace: Pace,
    answers: list[int] | None = None,
    config: SendConfig | None = None,
    lines: Sequence[LogLine] = LINES,
) -> Sink:
    """What arrives of these lines, which are sent in two parts."""
    wall = Wall()
    sink = Sink(wall, answers)
    async with httpx.AsyncClient(transport=httpx.MockTransport(sink)) as client:
        timing = Timing(clock=lambda: wall.now, sleep=wall.sleep)
        sender = LogSender(client, URL, "run", config=config, timing=timing)
        for part in (lines[:20], lines[20:]):
            await sender.send(part, pace)
    return sink


def body_of(requests: list[httpx.Request]) -> bytes:
    return b"".join(request.content for request in requests)


def ranges(requests: list[httpx.Request]) -> list[tuple[int, int]]:
    names = ("X-Logbytes-Beginoffset", "X-Logbytes-Endoffset")
    return [(int(request.headers[names[0]]), int(request.headers[names[1]])) for request in requests]


ALL = "".join(f"{line.text}\n" for line in LINES).encode()


async def test_every_byte_once_and_the_offsets_say_so() -> None:
    sink = await play(Pace(10))
    assert body_of(sink.accepted) == ALL
    begins, ends = zip(*ranges(sink.accepted), strict=True)
    assert begins == (0, *ends[:-1])
    assert [end - begin for begin, end in ranges(sink.accepted)] == [len(r.content) for r in sink.accepted]


async def test_headers_of_a_game_server() -> None:
    sink = await play(Pace(10))
    request = sink.accepted[0]
    assert request.headers["X-Server-Instance-Token"] == "run"
    assert request.headers["Content-Type"] == "text/plain"
    last = request.content.decode().splitlines()[-1]
    assert request.headers["X-Timestamp"] == last[2:23] + ".000"
    assert str(request.url) == URL


async def test_speed_paces_the_bodies() -> None:
    """60 lines a second apart at speed 10: about a body a second, no line before its time."""
    sink = await play(Pace(10))
    assert 5 <= len(sink.accepted) <= 8
    for at, request, _ in sink.seen:
        last = int(request.content.decode().splitlines()[-1].rsplit(" ", 1)[1].rstrip("é"))
        assert last / 10 <= at < last / 10 + 1.2


async def test_rush_then_normal_speed() -> None:
    sink = await play(Pace(1, rush_until=50, rush=50))
    times = [at for at, _, _ in sink.seen]
    assert times[-1] == pytest.approx(1 + 9 + 1, abs=1.1)


async def test_same_range_again_until_it_is_taken() -> None:
    sink = await play(Pace(10), [200, 503, 500, 429])
    assert body_of(sink.accepted) == ALL
    tried = ranges([request for _, request, _ in sink.seen])
    assert tried[1] == tried[2] == tried[3] == tried[4]
    assert tried[5][0] == tried[4][1]


async def test_a_refusal_ends_it() -> None:
    with pytest.raises(SinkRefused, match="403"):
        await play(Pace(10), [200, 403])


async def test_patience_ends() -> None:
    with pytest.raises(SinkRefused, match="503"):
        await play(Pace(10), [503] * 100, SendConfig(retry_seconds=20))


async def test_bodies_keep_to_their_size() -> None:
    sink = await play(Pace(1000), config=SendConfig(batch_bytes=200))
    assert body_of(sink.accepted) == ALL
    assert max(len(request.content) for request in sink.accepted) <= 210


def test_sink_address_keeps_path_and_token() -> None:
    public = "https://public.example/ops/v1/matches/m/log?token=7-x"
    assert sink_address("http://127.0.0.1:9/", public) == "http://127.0.0.1:9/ops/v1/matches/m/log?token=7-x"


@pytest.mark.parametrize("dress", ["L {}: x", "{}: x", "{}.250 - x"])
def test_log_files_are_timed_by_their_stamps(tmp_path: Path, dress: str) -> None:
    stamps = [
        "01/19/2026 - 18:59:42",
        "01/19/2026 - 18:59:45",
        "01/19/2026 - 18:59:44",
        "01/20/2026 - 00:00:00",
    ]
    text = "\n".join(dress.format(stamp) for stamp in stamps) + "\r\nno stamp\n"
    plain, packed = tmp_path / "a.log", tmp_path / "a.log.gz"
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    lines = list(read_log(plain))
    assert lines == list(read_log(packed))
    assert [line.at for line in lines] == [0, 3, 3, 18018, 18018]
    assert [line.text for line in lines][-1] == "no stamp"


async def test_a_new_run_has_its_own_token_and_offsets() -> None:
    sink = await play(Pace(10), lines=[line._replace(run=int(line.at >= 30)) for line in LINES])
    assert body_of(sink.accepted) == ALL
    tokens = [request.headers["X-Server-Instance-Token"] for request in sink.accepted]
    assert tokens == sorted(tokens) and set(tokens) == {"run", "run-1"}
    assert ranges(sink.accepted)[tokens.index("run-1")][0] == 0
