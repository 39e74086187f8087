"""The line that is stored of a sender has no addresses and secrets; which senders are the same server; which
sender is followed."""

from uuid import UUID

import pytest
from msgspec.structs import replace

from app.ingest import source_selection
from app.ingest.batches import Batch
from app.store.log_state import OTHERS, LogSender, State


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            '"a<2><[U:1:5]><>" connected, address "203.0.113.7:5"',
            '"a<2><[U:1:5]><>" connected, address "…:5"',
        ),
        ('rcon from "203.0.113.7:5": command "rcon_password abc"', "rcon…"),
        ('server_cvar: "sv_password" "abc"', 'server_cvar: "sv_password…'),
        ("x\x07\u202ey", "xy"),
        ("z" * 500, "z" * 200),
    ],
)
def test_the_last_line_is_short_and_without_secrets(line: str, expected: str) -> None:
    assert source_selection.last_line(f"first\n{line}\r\n".encode()) == expected


def _batch(address: str = "", unique: str = "") -> Batch:
    peer = "198.51.100.1"
    batch = Batch(id="b", match_id=UUID(int=1), number=1, arrived_at=1, body=b"", peer=peer)
    return replace(batch, address=address, unique=unique)


def test_a_server_is_identified_by_its_address_or_else_its_token_or_peer() -> None:
    assert source_selection.server_of(_batch(address="203.0.113.5:27015", unique="u")) == "203.0.113.5:27015"
    assert source_selection.server_of(_batch(address="0.0.0.0:27015", unique="u")) == "u"
    assert source_selection.server_of(_batch(address="0.0.0.0:27015")) == "198.51.100.1 0.0.0.0:27015"
    assert source_selection.server_of(_batch()) == "198.51.100.1"


TAKEOVER = 120_000
SERVER, RIVAL = "203.0.113.5:27015", "203.0.113.9:27015"


class Senders:
    """The records of a match's senders, as the database has them."""

    def __init__(self) -> None:
        self.known: dict[str, LogSender] = {}

    def send(self, run: str, address: str, at: int) -> str:
        """One batch; the verdict on it."""
        batch = replace(_batch(address), instance=run, arrived_at=at)
        decision = source_selection.decide(tuple(self.known.values()), batch, TAKEOVER)
        if decision.forgotten is not None:
            del self.known[decision.forgotten.source]
        self.known |= {each.source: each for each in decision.changed}
        assert sum(each.state == "followed" for each in self.known.values()) == 1
        return decision.verdict

    def set_state(self, source: str, state: State) -> None:
        self.known[source] = replace(self.known[source], state=state)

    @property
    def followed(self) -> str:
        found = source_selection.followed(tuple(self.known.values()))
        return found.source if found else ""


@pytest.fixture
def senders() -> Senders:
    """One sender, which is followed."""
    found = Senders()
    found.send("run", SERVER, 0)
    return found


@pytest.fixture
def crowded(senders: Senders) -> Senders:
    """One sender is followed, and so many others send that some have no record of their own."""
    for number in range(30):
        assert senders.send(f"rival-{number}", f"203.0.113.9:{number}", 1000 + number) == "refused"
    assert len(senders.known) == source_selection.MAX_SENDERS + 1
    assert OTHERS in senders.known
    return senders


def test_a_sender_without_a_record_takes_over_with_one_of_its_own(crowded: Senders) -> None:
    assert crowded.send("rival-29", "203.0.113.9:29", TAKEOVER) == "taken_over"
    assert crowded.followed == "rival-29"
    assert crowded.known[OTHERS].state == "refused"
    assert len(crowded.known) == source_selection.MAX_SENDERS + 1
    assert crowded.send("rival-28", "203.0.113.9:28", TAKEOVER + 1) == "refused"
    assert crowded.send("rival-29", "203.0.113.9:29", TAKEOVER + 2) == "followed"


def test_a_server_that_restarts_among_many_senders_is_followed(crowded: Senders) -> None:
    for number in range(40):
        assert crowded.send(f"again-{number}", SERVER, 2000 + number) == "next_run"
        assert crowded.followed == f"again-{number}"
        assert len(crowded.known) <= source_selection.MAX_SENDERS + 1
    assert crowded.send("again-38", SERVER, 2100) == "refused"


def test_what_makes_room_is_no_record_that_an_operator_needs(crowded: Senders) -> None:
    needed = [f"rival-{number}" for number in range(18)]
    for name in needed[:9]:
        crowded.set_state(name, "dismissed")
    for name in needed[9:]:
        crowded.known[name] = replace(crowded.known[name], claims=True)
    assert crowded.send("again", SERVER, 2000) == "next_run"
    assert "rival-18" not in crowded.known
    assert set(needed) < set(crowded.known)


def test_the_shared_record_is_never_followed(crowded: Senders) -> None:
    assert crowded.send(OTHERS, RIVAL, 2000) == "refused"
    assert crowded.send(OTHERS, RIVAL, TAKEOVER) == "taken_over"
    assert crowded.followed not in ("run", OTHERS)
    assert crowded.send("stranger", "203.0.113.9:99", TAKEOVER + 1) == "refused"


def test_senders_without_a_record_share_an_operators_decision_against_them(crowded: Senders) -> None:
    crowded.set_state(OTHERS, "dismissed")
    assert crowded.send("rival-29", "203.0.113.9:29", 5 * TAKEOVER) == "refused"
    assert crowded.known[OTHERS].state == "dismissed"
    assert crowded.send("again", SERVER, 5 * TAKEOVER) == "next_run"


@pytest.mark.parametrize("next_run", ["rival", "rival-restarted"])
def test_a_dismissed_server_does_not_take_over_by_itself(senders: Senders, next_run: str) -> None:
    senders.send("rival", RIVAL, 1)
    senders.set_state("rival", "dismissed")
    assert senders.send(next_run, RIVAL, 5 * TAKEOVER) == "refused"
    assert senders.known["rival"].state == "dismissed"
    assert senders.send("third", "203.0.113.7:27015", 5 * TAKEOVER) == "taken_over"


def test_a_dismissed_run_is_no_next_run_of_its_server(senders: Senders) -> None:
    senders.send("other-run", SERVER, 1)
    senders.set_state("other-run", "dismissed")
    senders.set_state("run", "followed")
    for at in (2, 10_000, TAKEOVER, 5 * TAKEOVER):
        assert senders.send("other-run", SERVER, at) == "refused"
    assert senders.send("restarted", SERVER, 5 * TAKEOVER) == "next_run"


def test_an_earlier_run_never_takes_over() -> None:
    senders = Senders()
    senders.send("run-1", SERVER, 0)
    assert senders.send("run-2", SERVER, 1000) == "next_run"
    for at in (2000, 10_000, 10_001, 5 * TAKEOVER):
        assert senders.send("run-1", SERVER, at) == "refused"
    assert senders.send("rival", RIVAL, 5 * TAKEOVER) == "taken_over"
    assert senders.send("run-1", SERVER, 10 * TAKEOVER) == "refused"


def test_a_server_that_fell_silent_takes_over_from_one_that_does(senders: Senders) -> None:
    assert senders.send("rival", RIVAL, TAKEOVER) == "taken_over"
    assert senders.send("run", SERVER, TAKEOVER + 1) == "refused"
    assert senders.send("run", SERVER, 2 * TAKEOVER) == "taken_over"
