"""The packages in one picture, from the import graph itself, in the order in which they import each other.

A package stands below all that import it. Arrows that a longer path implies are left out; each box lists
everything that the package imports directly.
"""

import textwrap
from collections.abc import Iterator

import grimp

ROW, WIDTH, HEIGHT, GAP, WRAP = 130, 176, 80, 14, 28
#: Packages whose packages are drawn each for itself.
_DIVIDED = {"channels", "sites", "operations"}
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
    links = links_between_packages()
    levels = list(rows(links))
    width = max(len(row) for row in levels) * (WIDTH + GAP) + GAP
    places = {
        package: (width / 2 + (column - (len(row) - 1) / 2) * (WIDTH + GAP), GAP + HEIGHT / 2 + level * ROW)
        for level, row in enumerate(levels)
        for column, package in enumerate(row)
    }
    height = len(levels) * ROW - (ROW - HEIGHT) + 2 * GAP
    drawn = [_arrow(places[upper], places[lower]) for upper, lower in _needed(links)]
    drawn += [_box(package, places[package], sorted(links[package])) for package in sorted(links)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">\n'
        "<title>Which package imports which</title>\n"
        f"<style>{STYLE}</style>\n"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>\n' + "\n".join(drawn) + "\n</svg>\n"
    )


def links_between_packages() -> Links:
    """The direct imports of each package; each channel and each site is a package of its own, and so
    is each part of operations."""
    graph = grimp.build_graph("app", cache_dir=None)
    links: Links = {_package(module): set() for module in graph.modules if module != "app"}
    for module in graph.modules - {"app"}:
        for imported in graph.find_modules_directly_imported_by(module) - {"app"}:
            if _package(imported) != _package(module):
                links[_package(module)].add(_package(imported))
    return {package: imported for package, imported in links.items() if package not in _DIVIDED or imported}


def _package(module: str) -> str:
    _, first, *rest = module.split(".")
    return f"{first}.{rest[0]}" if first in _DIVIDED and rest else first


def rows(links: Links) -> Iterator[list[str]]:
    """Packages from the top; each as high as it can stand below all that import it."""
    left = set(links)
    while left:
        row = sorted(package for package in left if not any(package in links[other] for other in left))
        if not row:
            raise ValueError(f"these import each other in a cycle: {sorted(left)}")
        yield row
        left -= set(row)


def _needed(links: Links) -> list[tuple[str, str]]:
    """The arrows that no longer path implies."""
    return [
        (package, imported)
        for package in sorted(links)
        for imported in sorted(links[package])
        if not any(imported in _reachable(links, other) for other in links[package] - {imported})
    ]


def _reachable(links: Links, package: str) -> set[str]:
    return links[package].union(*(_reachable(links, imported) for imported in links[package]))


def _arrow(upper: tuple[float, float], lower: tuple[float, float]) -> str:
    (x, y), (to_x, to_y) = upper, lower
    y, to_y = y + HEIGHT / 2, to_y - HEIGHT / 2
    half = (y + to_y) / 2
    return f'<path d="M{x:g} {y:g}C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y:g}"/>'


def _box(package: str, place: tuple[float, float], imported: list[str]) -> str:
    x, y = place
    lines = _wrapped(imported)
    texts = "".join(
        f'<text class="words" x="{x:g}" y="{y - 8 + 12 * index:g}">{line}</text>'
        for index, line in enumerate(lines)
    )
    return (
        f'<rect x="{x - WIDTH / 2:g}" y="{y - HEIGHT / 2:g}" width="{WIDTH}" height="{HEIGHT}"/>'
        f'<text class="name" x="{x:g}" y="{y - HEIGHT / 2 + 17:g}">{package}</text>{texts}'
    )


def _wrapped(packages: list[str]) -> list[str]:
    names = " ".join(package.removeprefix("channels.") for package in packages)
    return textwrap.wrap(names, WRAP) or ["imports nothing of ours"]
