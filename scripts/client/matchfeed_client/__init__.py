"""A client of matchfeed's AMQP feed: typed messages, a book of open markets, recovery, self-check; and of
changes over HTTP."""

from matchfeed_client.book import Book, Offer, State
from matchfeed_client.changes import Changes
from matchfeed_client.client import Client, Update
from matchfeed_client.decoding import Message, decode
from matchfeed_client.rest import ClientError, Comparison, Rest
from matchfeed_client.results import MarketResult, Results

__all__ = [
    "Book",
    "Changes",
    "Client",
    "ClientError",
    "Comparison",
    "MarketResult",
    "Message",
    "Offer",
    "Rest",
    "Results",
    "State",
    "Update",
    "decode",
]
