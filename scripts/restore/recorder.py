"""A tenant of the drill: a bookmaker that records every message."""

import re
from typing import NamedTuple
from xml.etree import ElementTree as ET

import httpx
from aio_pika.abc import AbstractIncomingMessage

from scripts.soak.bookmakers import Bookmaker

_MARKET = re.compile(rb"<market [^>]*>")


class Message(NamedTuple):
    """What a client decides by: the message's name, its match, its timestamp (ms), `x-seq` and `x-prev-seq`
    of a live one (else 0), the id of the recovery that replayed it, and `message_id`; `lists` are its markets
    as they are written."""

    name: str
    match: str
    at: int
    seq: int
    prev: int
    replayed: str
    message_id: str
    lists: frozenset[bytes]
    subscribed: str

    @property
    def live(self) -> bool:
        return bool(self.seq) and not self.replayed


class Recorder(Bookmaker):
    """`before` is what came before the restore, `after` from then on."""

    def __init__(self, slug: str, url: str, exchange: str, rest: httpx.AsyncClient) -> None:
        self.before, self.after = list[Message](), list[Message]()
        self.restored = False
        super().__init__(slug, url, exchange, rest)

    def receive(self, message: AbstractIncomingMessage) -> None:
        (self.after if self.restored else self.before).append(_read(message))
        super().receive(message)


def _read(message: AbstractIncomingMessage) -> Message:
    root, headers = ET.fromstring(message.body), message.headers
    seq, prev = (int(str(headers.get(name, 0))) for name in ("x-seq", "x-prev-seq"))
    return Message(
        name=root.tag,
        match=root.get("event_id", ""),
        at=int(root.get("timestamp", "0")),
        seq=seq,
        prev=prev,
        replayed=root.get("request_id", ""),
        message_id=message.message_id or "",
        lists=frozenset(_MARKET.findall(message.body)),
        subscribed=root.get("subscribed", ""),
    )
