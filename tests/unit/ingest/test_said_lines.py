"""The lines of a body that say something lead to the same facts as the whole body."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from app.ingest import cs2log
from app.sandbox.simulator.anomalies import COMMON
from app.sandbox.simulator.match_simulation import simulate
from tests.support.logs import cut
from tests.support.simulated import plan_of

AT = 1_790_000_000_000
LINES = [
    line.text.encode()
    for seed in range(3)
    for line in simulate(plan_of(seed, brief=True, anomalies=COMMON))[0]
]
DAMAGE = st.one_of(
    st.binary(max_size=12),
    st.sampled_from(
        [
            b"\xef\xbb\xbf",
            b"\n",
            b"\r",
            b"L ",
            b"L 01/19/2026 - 18:59:42: ",
            b'"a<1><[U:1:5]><CT>" killed "',
            b'Team "CT" triggered "SFUI_Notice_CTs_Win" (CT "1") (T "0")',
            b"x" * 2_001,
            b"L 01/19/2026 - 18:59:42: " + b"x" * 2_001,
        ]
    ),
)


def check(body: bytes) -> cs2log.Reading:
    whole = cs2log.read(body, AT)
    again = cs2log.read("\n" + "\n".join(whole.said), AT)
    assert again.facts == whole.facts
    assert again.unread == whole.unread
    return whole


@settings(max_examples=300)
@given(st.integers(0, 2**32), st.lists(st.tuples(st.integers(0, 60), DAMAGE), max_size=6))
def test_any_part_of_a_damaged_log(seed: int, damage: list[tuple[int, bytes]]) -> None:
    rng = Random(seed)
    begin = rng.randrange(len(LINES))
    lines = LINES[begin : begin + rng.randint(0, 40)]
    for place, piece in damage:
        lines[place:place] = [piece + rng.choice(LINES) if rng.random() < 0.5 else piece]
    check(b"\n".join(lines))


def test_the_real_log(real_log: str) -> None:
    read = [check(body) for body in cut(real_log.encode(), 25)]
    said = [line for one in read for line in one.said]
    assert not any(" say " in line or "address" in line for line in said)


def test_the_address_of_an_operators_command_is_left_out() -> None:
    restored = 'rcon from "203.0.113.7:50000": command "mp_backup_restore_load_file backup_round07.txt"'
    (line,) = check(f"L 01/19/2026 - 18:59:42: {restored}\n".encode()).said
    assert "203.0.113.7" not in line and "backup_round07" in line
