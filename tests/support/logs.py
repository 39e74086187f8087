"""A small match as a game server's log, piece by piece."""

from collections.abc import Sequence

CT = tuple(f'"ct{seat}<{seat}><[U:1:{100 + seat}]><CT>"' for seat in range(1, 6))
T = tuple(f'"t{seat}<{seat}><[U:1:{200 + seat}]><TERRORIST>"' for seat in range(1, 6))
HOME, AWAY, MAP = "Northwind", "Harbour", "de_nuke"


def body(*lines: str, second: int = 0) -> bytes:
    """Lines with a server's stamp, all in one second."""
    stamp = f"L 01/19/2026 - 19:{second // 60:02d}:{second % 60:02d}: "
    return "".join(f"{stamp}{line}\n" for line in lines).encode()


def score(ct_score: int, t_score: int, played: int) -> tuple[str, ...]:
    """The lines about teams and score that the server repeats; home begins as CT."""
    return (
        f'MatchStatus: Team playing "CT": {HOME}',
        f'MatchStatus: Team playing "TERRORIST": {AWAY}',
        f'MatchStatus: Score: {ct_score}:{t_score} on map "{MAP}" RoundsPlayed: {played}',
    )


def kick_off() -> tuple[str, ...]:
    """The map starts, in the freeze before round 1."""
    return (
        f'Loading map "{MAP}"',
        f'World triggered "Match_Start" on "{MAP}"',
        *score(0, 0, 0),
        "Starting Freeze period",
    )


def live() -> tuple[str, ...]:
    return ('World triggered "Round_Start"',)


def kill(killer: str, victim: str, weapon: str = "ak47", extra: str = "") -> str:
    return f'{killer} [1 2 3] killed {victim} [4 5 6] with "{weapon}"{extra}'


def plant(planter: str) -> str:
    return f'{planter} triggered "Planted_The_Bomb" at bombsite B'


def ct_win(ct_score: int, t_score: int) -> tuple[str, ...]:
    """CT wins by killing all; the scores are after the round."""
    return (
        *(kill(CT[0], victim) for victim in T),
        f'Team "CT" triggered "SFUI_Notice_CTs_Win" (CT "{ct_score}") (T "{t_score}")',
        *score(ct_score, t_score, ct_score + t_score),
        'World triggered "Round_End"',
    )


def freeze(ct_score: int, t_score: int) -> tuple[str, ...]:
    """Freeze time before the next round."""
    return ("Starting Freeze period", *score(ct_score, t_score, ct_score + t_score))


def statistics(rounds: int) -> tuple[str, ...]:
    """The server's block after so many rounds that CT has won as `ct_win` does."""
    fields = ("accountid", "team", "money", "kills", "deaths", "assists")
    rows = [(100 + seat, 3, 800, rounds * len(T) * (seat == 1), 0, 0) for seat in range(1, 6)]
    rows += [(200 + seat, 2, 800, 0, rounds, 0) for seat in range(1, 6)]
    written = [",".join(f"{value:>7}" for value in row) for row in [fields, *rows]]
    players = [f'"player_{number}" : "{row}"' for number, row in enumerate(written[1:])]
    return ("JSON_BEGIN{", f'"fields" : "{written[0]}"', '"players" : {', *players, "}}JSON_END")


def cut(text: bytes, size: int) -> Sequence[bytes]:
    """A log in bodies of `size` lines, as a sender cuts it."""
    lines = text.splitlines(keepends=True)
    return [b"".join(lines[at : at + size]) for at in range(0, len(lines), size)]
