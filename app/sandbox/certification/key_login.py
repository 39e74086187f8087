"""The login of existing SDKs: an API key as user name, and an empty password.

The broker asks the installation's own `broker-authorisation` about keys, which knows none of a certification.
So the proxy exchanges the key for the tenant's login, and does what else the broker permits to keys alone: an
exchange of the clients' names may be declared as it is, and the vhost may be named by a bookmaker's number.
"""

from collections.abc import Callable
from urllib.parse import unquote, urlsplit

from pamqp import commands, frame

from app.broker.permissions import CLIENT_EXCHANGES
from app.domain.tenant import NUMBERED_VHOST

#: What a key and its tenant's AMQP URL are at present.
Present = Callable[[], tuple[str, str]]
_START_OK, _OPEN, _DECLARE = (10, 11), (10, 40), (40, 10)


class KeyLogin:
    """One connection of a client: `translated` returns the frame that the broker gets for one of its."""

    def __init__(self, present: Present) -> None:
        self._present = present
        self._by_key = False

    def translated(self, method: tuple[int, int] | None, raw: bytes, channel: int) -> bytes:
        if method == _START_OK or (self._by_key and method in (_OPEN, _DECLARE)):
            found = frame.unmarshal(raw)[2]
            if self._changed(found):
                return frame.marshal(found, channel)
        return raw

    def _changed(self, method: object) -> bool:
        """Whether the method was changed for the broker."""
        key, url = self._present()
        own = urlsplit(url)
        if isinstance(method, commands.Connection.StartOk):
            self._by_key = method.mechanism == "PLAIN" and method.response == f"\0{key}\0"
            if self._by_key:
                method.response = f"\0{unquote(own.username or '')}\0{unquote(own.password or '')}"
            return self._by_key
        if isinstance(method, commands.Connection.Open) and method.virtual_host.startswith(NUMBERED_VHOST):
            method.virtual_host = unquote(own.path.removeprefix("/"))
            return True
        if isinstance(method, commands.Exchange.Declare) and method.exchange in CLIENT_EXCHANGES:
            method.passive = True
            return True
        return False
