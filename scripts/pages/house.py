"""The house in one picture, from the import graph itself: rooms in the order in which they know each other.

A room stands below all that import it. Arrows that a longer way implies are left out; what a room imports
itself is written in it, whole.
"""

from collections.abc import Iterator

import grimp

ROW, WIDTH, HEIGHT, GAP, WRAP = 130, 176, 80, 14, 27
Links = dict[str, set[str]]
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #1b2733; text-anchor: middle }
  .name { font-weight: 600; font-size: 14px }
  .words { font-size: 10px; fill: #52616f }
  rect { fill: #f4f7fa; stroke: #7b8b9a; rx: 6px }
  path { fill: none; stroke: #7b8b9a; stroke-width: 1.2; marker-end: url(#tip) }
  marker path { fill: #7b8b9a; stroke: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4ebf1 } .words { fill: #a6b4c1 } rect { fill: #1d2731; stroke: #647585 }
  }
"""


def picture() -> str:
    """The SVG."""
    links = links_between_rooms()
    levels = list(rows(links))
    width = max(len(row) for row in levels) * (WIDTH + GAP) + GAP
    places = {
        room: (width / 2 + (column - (len(row) - 1) / 2) * (WIDTH + GAP), GAP + HEIGHT / 2 + level * ROW)
        for level, row in enumerate(levels)
        for column, room in enumerate(row)
    }
    height = len(levels) * ROW - (ROW - HEIGHT) + 2 * GAP
    drawn = [_arrow(places[upper], places[lower]) for upper, lower in _needed(links)]
    drawn += [_box(room, places[room], sorted(links[room])) for room in sorted(links)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">\n'
        "<title>Which room imports which</title>\n"
        f"<style>{STYLE}</style>\n"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>\n' + "\n".join(drawn) + "\n</svg>\n"
    )


def links_between_rooms() -> Links:
    """What each room imports itself; channels are rooms of their own."""
    graph = grimp.build_graph("app", cache_dir=None)
    links: Links = {_room(module): set() for module in graph.modules if module != "app"}
    for module in graph.modules - {"app"}:
        for known in graph.find_modules_directly_imported_by(module) - {"app"}:
            if _room(known) != _room(module):
                links[_room(module)].add(_room(known))
    return {room: known for room, known in links.items() if room != "channels" or known}


def _room(module: str) -> str:
    _, first, *rest = module.split(".")
    return f"{first}.{rest[0]}" if first == "channels" and rest else first


def rows(links: Links) -> Iterator[list[str]]:
    """Rooms from the top; each as high as it can stand below all that import it."""
    left = set(links)
    while left:
        row = sorted(room for room in left if not any(room in links[other] for other in left))
        if not row:
            raise ValueError(f"these import each other in a circle: {sorted(left)}")
        yield row
        left -= set(row)


def _needed(links: Links) -> list[tuple[str, str]]:
    """The arrows that no longer way implies."""
    return [
        (room, known)
        for room in sorted(links)
        for known in sorted(links[room])
        if not any(known in _reached(links, other) for other in links[room] - {known})
    ]


def _reached(links: Links, room: str) -> set[str]:
    return links[room].union(*(_reached(links, known) for known in links[room]))


def _arrow(upper: tuple[float, float], lower: tuple[float, float]) -> str:
    (x, y), (to_x, to_y) = upper, lower
    y, to_y = y + HEIGHT / 2, to_y - HEIGHT / 2
    half = (y + to_y) / 2
    return f'<path d="M{x:g} {y:g}C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y:g}"/>'


def _box(room: str, place: tuple[float, float], known: list[str]) -> str:
    x, y = place
    lines = _wrapped(known)
    texts = "".join(
        f'<text class="words" x="{x:g}" y="{y - 8 + 12 * index:g}">{line}</text>'
        for index, line in enumerate(lines)
    )
    return (
        f'<rect x="{x - WIDTH / 2:g}" y="{y - HEIGHT / 2:g}" width="{WIDTH}" height="{HEIGHT}"/>'
        f'<text class="name" x="{x:g}" y="{y - HEIGHT / 2 + 17:g}">{room}</text>{texts}'
    )


def _wrapped(words: list[str]) -> list[str]:
    lines = [""]
    for word in words:
        word = word.removeprefix("channels.")
        if len(lines[-1]) + len(word) > WRAP:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines if words else ["imports nothing of ours"]
