"""Pages for people made from templates: nothing is fetched, nothing is run, whatever is put in is escaped."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
from litestar import MediaType, Response

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_SHARED = Path(__file__).parent  #: where `page_head.html` lies, with which every page begins


def render(place: Path, filters: dict[str, Callable[..., Any]], **values: Any) -> str:
    """The page that `page.html` in the folder `place` makes of `values`; `filters` are its own."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader([place, _SHARED]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters |= filters
    return templates.get_template("page.html").render(values)


def shown(page: bytes) -> Response[bytes]:
    """A page on its way, which loads nothing and runs nothing."""
    headers = {"Content-Security-Policy": _POLICY, "Cache-Control": "public, max-age=300"}
    return Response(page, media_type=MediaType.HTML, headers=headers)
