"""With which codes the stream ends a connection, and what a client should make of them."""

from enum import IntEnum


class Code(IntEnum):
    """Documented in `docs/stream.md`; 1001 to 1011 as in RFC 6455."""

    GOING_AWAY = 1001  #: this process stops: connect again at once, with `since`
    POLICY = 1008  #: the key is not valid any more, or the client sends too much
    TOO_BIG = 1009  #: the client sent a message beyond the limit
    FAULT = 1011  #: a fault of ours, or no pong: connect again
    TOO_SLOW = 4008  #: the client reads too slowly: connect again with `since`, and read faster


REVOKED = "this key is not valid any more"
FLOOD = "too many messages: this stream only talks"
SLOW = "too slow: more waits to be read than is kept"
STOPPING = "going away"
