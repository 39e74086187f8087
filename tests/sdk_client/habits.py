"""What the lines of existing SDKs do differently, as far as it matters here."""

import msgspec


class Habits(msgspec.Struct, frozen=True):
    """`reconnect_seconds` lie between two attempts to connect. A recovery is posted `tries` times where
    nobody answers, and repeated after `repeat_seconds` without its end (0: never). `always_after`: the first
    request names the recovery window. `one_request_id`: every request has the same. `whole_seconds`: `after`
    is the AMQP property. `reads_bet_stop`: its user receives this message, and not an unparsable one."""

    name: str
    reconnect_seconds: float = 1.0
    tries: int = 1
    repeat_seconds: float = 0.0
    always_after: bool = False
    one_request_id: bool = False
    whole_seconds: bool = False
    reads_bet_stop: bool = True


PATIENT = Habits("patient", tries=3)
#: Go 0.0.x counts a recovery as begun before it posts it, and repeats it after six hours at the earliest.
GO_0 = Habits("Go 0.0.x", reconnect_seconds=5.0, whole_seconds=True, reads_bet_stop=False)
GO_NEXT = Habits("Go next", tries=3, repeat_seconds=300.0)
JAVA_0 = Habits("Java 0.0.x", one_request_id=True)
DOT_NET = Habits(".NET", always_after=True)
LINES = (GO_0, JAVA_0, DOT_NET, GO_NEXT)
