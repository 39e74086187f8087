"""The sport namespaces that are live; a namespace absent here is not public (spec, Versioning)."""

import msgspec


class Sport(msgspec.Struct, frozen=True):
    slug: str
    name: str
    api_version: str
    base_url: str


CS2 = Sport("cs2", "Counter-Strike 2", "v1", "/cs2/v1")
SOCCER = Sport("soccer", "Soccer", "v1", "/soccer/v1")
LIVE = (CS2, SOCCER)
