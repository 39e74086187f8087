"""The broker user by which this process publishes to tenants."""

import msgspec

from app.broker.address import Address


class LoginRefused(Exception):
    """The broker no longer knows our user: another process holds our tenants."""


class PublisherLogin(msgspec.Struct, frozen=True):
    """How this process connects to every vhost: its user, the connection's name, the exchange."""

    address: Address
    name: str
    exchange: str
