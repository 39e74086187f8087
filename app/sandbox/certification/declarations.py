"""What an accident is, and the list of all of them, in the order in which they are documented."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.sandbox.certification.stage import CHANNELS, Channel, Stage

Act = Callable[[Stage], Awaitable[None]]
AMQP: tuple[Channel, ...] = ("amqp",)
OVER_HTTP: tuple[Channel, ...] = ("http", "events", "websocket")
ALL: tuple[Channel, ...] = CHANNELS


@dataclass(frozen=True)
class Accident:
    """`what` happens, what a right `client` does, and `why`. `act` brings it about and may judge the client
    meanwhile; afterwards its book must be right. `restarts`: the client must be started by us."""

    name: str
    channels: tuple[Channel, ...]
    what: str
    client: str
    why: str
    act: Act
    restarts: bool = False


ACCIDENTS: dict[str, Accident] = {}


def accident(
    channels: tuple[Channel, ...], *, what: str, client: str, why: str, restarts: bool = False
) -> Callable[[Act], Act]:
    """Declare the accident that the function brings about, and after which it is named."""

    def declare(act: Act) -> Act:
        name = act.__name__.replace("_", "-")
        assert name not in ACCIDENTS, name
        ACCIDENTS[name] = Accident(name, channels, what, client, why, act, restarts)
        return act

    return declare
