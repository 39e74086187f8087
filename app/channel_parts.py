"""What the channels depend on, from the settings."""

from functools import cache
from pathlib import Path

from app.channels.facade import catalogue
from app.channels.facade.dependencies import FacadeDependencies
from app.channels.feed.asyncapi import feed
from app.channels.rest.asyncapi import AsyncApiDocument, generate_document, with_stream_server
from app.channels.rest.dependencies import RestDependencies
from app.channels.stream.asyncapi import stream_document
from app.channels.stream.poller import StreamConfig
from app.files.directory import FileDirectory
from app.http.health import Health
from app.http.listeners import Listener
from app.kit.clock import Clock
from app.ledger.reading import PublicKeys
from app.settings import Settings, liquidity
from app.store.connections import Store
from app.wire.xml.dialect import SDK, SPECIFICATION, Dialect
from app.wire.xml.dictionaries import Producer

PRODUCER = "live"  #: the producer's name, and what its stream covers


@cache
def asyncapi_document(exchange: str, amqp_host: str, public_url: str, contact_email: str) -> AsyncApiDocument:
    """The AsyncAPI document, from the parts of the feed and the stream."""
    amqp_part = feed(exchange, amqp_host, public_url)
    stream_part = with_stream_server(stream_document(), public_url)
    return generate_document(public_url, contact_email, amqp_part, stream_part)


def stream_config(settings: Settings) -> StreamConfig:
    scheme, _, rest = settings.public_url.partition("://")
    own = f"{scheme}://{rest.partition('/')[0]}"
    return StreamConfig(
        poll_all_millis=settings.stream_poll_all_millis,
        poll_match_millis=settings.stream_poll_match_millis,
        alive_seconds=settings.alive_seconds,
        connections=settings.stream_connections,
        backlog=settings.stream_backlog,
        origins=frozenset({own, *filter(None, map(str.strip, settings.stream_origins.split(",")))}),
    )


def rest_dependencies(settings: Settings, store: Store, clock: Clock, health: Health) -> RestDependencies:
    return RestDependencies(
        store,
        clock,
        health,
        settings.producer_id,
        settings.soccer_urn_prefix,
        settings.bet_delay_seconds,
        liquidity(settings.liquidity_by_tier),
        FileDirectory(Path(settings.files_directory)) if settings.files_directory else None,
        PublicKeys(store),
    )


def facades(settings: Settings, store: Store, clock: Clock) -> dict[Listener, FacadeDependencies]:
    """The facade at each address that serves it."""
    return {
        Listener.TENANTS: _facade(settings, store, clock, settings.public_url, SPECIFICATION),
        Listener.SDK: _facade(settings, store, clock, settings.sdk_public_url, SDK),
    }


def _facade(
    settings: Settings, store: Store, clock: Clock, public_url: str, dialect: Dialect
) -> FacadeDependencies:
    address = public_url.rstrip("/")
    producer = Producer(
        id=settings.producer_id,
        name=PRODUCER,
        description="Matches being played, and markets on those to come",
        api_url=f"{address}/v1/",
        window_minutes=settings.recovery_window_minutes,
    )
    icon_url = catalogue.icon_url(settings.public_url, settings.cs2_category_icon_url)
    return FacadeDependencies(store, clock, producer, icon_url, dialect)
