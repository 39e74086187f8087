"""What the rehearsal of an upgrade finds in what tenants received, and which version it begins with."""

import subprocess
from pathlib import Path

import pytest

from scripts.local_services.processes import ServiceError
from scripts.upgrade import findings, former_version, installation
from scripts.upgrade.clients import Message
from scripts.upgrade.former_version import FormerVersion, newest_release

ROOT = Path(__file__).resolve().parents[3]
PUBLISHED = {2: "odds_change", 5: "bet_settlement", 7: "odds_change"}


def message(
    seq: int, at: float = 0.0, *, name: str = "odds_change", request: str = "", says: str = ""
) -> Message:
    return Message(at, name, "od:match:1", seq, request, (says or str(seq)).encode())


def found(*messages: Message) -> list[str]:
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
            [message(2), message(5), message(5, says="else"), message(7)],
            "numbers of live messages: 1 ambiguous",
        ),
    ],
    ids=["lost", "invented", "back", "ambiguous"],
)
def test_what_is_wrong_is_named(messages: list[Message], wrong: str) -> None:
    assert found(*messages) == [wrong]


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


def test_only_errors_since_the_upgrade_began_are_complaints(tmp_path: Path) -> None:
    log = tmp_path / "web-1.log"
    log.write_text(
        '{"level": "error", "event": "before", "timestamp": "2026-11-25T16:39:59.9Z"}\n'
        '{"level": "warning", "event": "no error", "timestamp": "2026-11-25T16:41:00.1Z"}\n'
        '{"level": "error", "event": "after", "timestamp": "2026-11-25T16:41:00.1Z"}\n'
        "Traceback\n"
    )
    found = list(installation._complaints(log, "2026-11-25T16:40:00.123456+00:00"))
    assert found == ["after: ", "Traceback"]


def test_a_clone_without_its_history_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    monkeypatch.setattr(former_version, "ROOT", tmp_path)
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
    monkeypatch.setattr(former_version, "ROOT", tmp_path)
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
