"""What the rehearsal of an upgrade finds in what tenants received, and which version it begins with."""

import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from scripts.lab import service
from scripts.lab.evidence import Delivery, Frame
from scripts.local_services.processes import ServiceError
from scripts.upgrade import findings, installation
from scripts.upgrade.installation import FormerVersion, newest_release

ROOT = Path(__file__).resolve().parents[3]
PUBLISHED = {2: "odds_change", 5: "bet_settlement", 7: "odds_change"}


SETTLEMENT = "<m><o id='1' result='1'/></m>"


def message(
    seq: int, at: float = 0.0, *, name: str = "odds_change", request: str = "", says: str = ""
) -> Delivery:
    return Delivery(at, 1, name, "od:match:1", 0, seq, 0, request, (says or str(seq)).encode())


def found(*messages: Delivery) -> list[str]:
    return list(findings.received({"acme": messages}, PUBLISHED).wrong())


def test_nothing_is_wrong_with_each_message_once_and_a_repeated_one() -> None:
    received = findings.received({"acme": [message(2), message(5), message(2), message(7)]}, PUBLISHED)
    assert (received.messages, received.repeated, list(received.wrong())) == (4, 1, [])


@pytest.mark.parametrize(
    ("messages", "wrong"),
    [
        ([message(2), message(7)], "acme did not receive bet_settlement 5"),
        ([message(2), message(5), message(6), message(7)], "numbers of live messages: 1 invented"),
        ([message(2), message(7), message(5)], "numbers of live messages: 1 back"),
        (
            [
                message(2),
                message(5, says=SETTLEMENT),
                message(5, says=SETTLEMENT.replace("1", "0")),
                message(7),
            ],
            "numbers of live messages: 1 ambiguous",
        ),
        (
            [
                message(2),
                message(5, says=SETTLEMENT),
                message(5, says="<m><o id='1'/><o id='2'/></m>"),
                message(7),
            ],
            "numbers of live messages: 1 ambiguous",
        ),
    ],
    ids=["lost", "invented", "back", "other value", "other element"],
)
def test_what_is_wrong_is_named(messages: list[Delivery], wrong: str) -> None:
    assert found(*messages) == [wrong]


def test_a_version_may_add_attributes() -> None:
    for says in (
        "<m><o certainty='2' id='1' result='1'/></m>",
        "<m void='0'><o id='1' a='2' result='1'/></m>",
    ):
        assert not found(message(2), message(5, says=SETTLEMENT), message(5, says=says), message(7))


def test_messages_of_recoveries_are_no_live_ones() -> None:
    replayed = message(0, request="17")
    assert not found(message(2), replayed, message(5), message(7))
    end = message(0, name="snapshot_complete", request="17")
    assert findings.unfinished({"acme": [replayed]}, {"17"}) == ["recovery 17 was accepted and has no end"]
    assert not findings.unfinished({"acme": [replayed, end]}, {"17"})


def test_silence_and_repetitions_count_where_they_end() -> None:
    everyone = {"acme": [message(2, 1.0), message(5, 4.0), message(2, 9.0), message(7, 10.0)]}
    assert findings.silence(everyone, 0.0, 5.0) == 3.0
    assert findings.silence(everyone, 5.0, 20.0) == 5.0
    assert (findings.repeated(everyone, 0.0, 5.0), findings.repeated(everyone, 5.0, 20.0)) == (0, 1)


SETTLED = Frame(1.0, 1, "bet_settlement", "m", 5, False, 5)
ALIVE = Frame(4.0, 1, "alive", "", 5, False)


@pytest.mark.parametrize(
    ("frames", "wrong"),
    [
        ((SETTLED, ALIVE), []),
        ((ALIVE,), ["stream: 1 settlements lost, such as 5"]),
        (
            (
                Frame(1.0, 1, "bet_settlement", "m", 5, False, 5),
                replace(SETTLED, connection=2),
            ),
            [
                "stream: settlement 5 again, although resumed after 5",
                "stream: 1 settlements repeated",
            ],
        ),
        (
            (SETTLED, ALIVE, Frame(5.0, 1, "alive", "", 4, False)),
            ["stream: alive 4 after 5"],
        ),
        (
            (
                Frame(1.0, 1, "bet_settlement", "m", 5, False, 5),
                replace(SETTLED, seq=6, id=6),
            ),
            ["stream: 1 settlements invented, such as 6"],
        ),
    ],
    ids=["right", "lost", "again", "back", "invented"],
)
def test_what_is_wrong_on_the_stream_is_named(frames: tuple[Frame, ...], wrong: list[str]) -> None:
    assert list(findings.streamed(frames, {5}).wrong) == wrong


def test_the_streams_silence_is_within_a_connection() -> None:
    frames = (ALIVE, Frame(6.0, 1, "alive", "", 5, False), Frame(60.0, 2, "alive", "", 5, True))
    found = findings.streamed(frames, set())
    assert (found.silence, found.connections, found.snapshots, found.frames) == (2.0, 2, 1, 3)


def test_only_errors_since_the_upgrade_began_are_complaints(tmp_path: Path) -> None:
    log = tmp_path / "web-1.log"
    log.write_text(
        '{"level": "error", "event": "before", "timestamp": "2026-11-25T16:39:59.9Z"}\n'
        '{"level": "warning", "event": "no error", "timestamp": "2026-11-25T16:41:00.1Z"}\n'
        '{"level": "error", "event": "after", "timestamp": "2026-11-25T16:41:00.1Z"}\n'
        "Traceback\n"
    )
    found = list(service._complaints(log, "2026-11-25T16:40:00.123456+00:00"))
    assert found == ["after: ", "Traceback"]


def test_a_clone_without_its_history_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    monkeypatch.setattr(installation, "ROOT", tmp_path)
    with pytest.raises(ServiceError, match="git fetch --unshallow"):
        FormerVersion(tmp_path / "former", "1c3771e")


@pytest.mark.parametrize(
    ("versions", "commit"),
    [("0.1.0", None), ("0.2.0 0.1.0", "abcdef0"), ("1.10.3 0.2.0", "abcdef0")],
)
def test_the_version_to_upgrade_from_is_the_newest_that_the_changelog_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, versions: str, commit: str | None
) -> None:
    """None before the first whose database later versions keep."""
    monkeypatch.setattr(installation, "ROOT", tmp_path)
    sections = [
        f"## [{version}] - 2026-11-22\n\nCommit abcdef{at}, a version.\n"
        for at, version in enumerate(versions.split())
    ]
    (tmp_path / "CHANGELOG.md").write_text("## [Unreleased]\n\nMore.\n\n" + "\n".join(sections))
    if commit:
        assert newest_release() == commit
    else:
        with pytest.raises(ServiceError, match="--commit"):
            newest_release()
