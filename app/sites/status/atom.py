"""Incidents and announced maintenance as an Atom feed (RFC 4287): an entry for each, whose `updated` is that
of the last words on it, so that readers show it again."""

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from app.domain.service_status import KIND_TITLES, IncidentKind
from app.wire.text import permitted
from app.wire.views.status import IncidentView, MaintenanceView, StatusView

MEDIA_TYPE = "application/atom+xml"
_NAMESPACE = "http://www.w3.org/2005/Atom"
ET.register_namespace("", _NAMESPACE)


def render_feed(view: StatusView, public_url: str) -> bytes:
    """The feed; its addresses begin with `public_url`. What is not stored yet has no entry."""
    page = f"{public_url}/status"
    feed = ET.Element(_name("feed"))
    entries = sorted(_entries(view, page), key=lambda entry: entry.findtext(_name("updated")) or "")
    _add(feed, "id", page)
    _add(feed, "title", "matchfeed: status of the service")
    _add(feed, "updated", (entries[-1].findtext(_name("updated")) if entries else None) or view.at)
    ET.SubElement(feed, _name("link"), rel="self", type=MEDIA_TYPE, href=f"{page}.atom")
    ET.SubElement(feed, _name("link"), rel="alternate", type="text/html", href=page)
    _add(ET.SubElement(feed, _name("author")), "name", "matchfeed")
    feed.extend(reversed(entries))
    made: bytes = ET.tostring(feed, encoding="utf-8", xml_declaration=True)
    return made


def _entries(view: StatusView, page: str) -> Iterator[ET.Element]:
    for incident in view.incidents:
        if incident.id is not None:
            yield _incident(incident, page)
    for each in view.maintenance:
        yield _maintenance(each, page)


def _incident(one: IncidentView, page: str) -> ET.Element:
    title = KIND_TITLES[IncidentKind(one.kind)]
    words = [f"{each.at}: {each.text}" for each in one.updates]
    return _entry(
        f"{page}#incident-{one.id}",
        f"{title} (ended)" if one.ended_at else title,
        (one.began_at, max(one.began_at, *(each.at for each in one.updates))),
        "\n".join([f"Parts: {', '.join(one.parts)}.", *words]),
    )


def _maintenance(one: MaintenanceView, page: str) -> ET.Element:
    what = "Maintenance cancelled" if one.cancelled_at else "Maintenance"
    return _entry(
        f"{page}#maintenance-{one.id}",
        f"{what}: {one.begins_at} to {one.ends_at}",
        (one.announced_at, one.cancelled_at or one.announced_at),
        f"Parts: {', '.join(one.parts)}.\n{one.text}",
    )


def _entry(address: str, title: str, times: tuple[str, str], content: str) -> ET.Element:
    entry = ET.Element(_name("entry"))
    _add(entry, "id", address)
    _add(entry, "title", title)
    _add(entry, "published", times[0])
    _add(entry, "updated", times[1])
    ET.SubElement(entry, _name("link"), rel="alternate", type="text/html", href=address)
    _add(entry, "content", content)
    return entry


def _add(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, _name(name)).text = permitted(text)  # which ElementTree does not check


def _name(name: str) -> str:
    return f"{{{_NAMESPACE}}}{name}"
