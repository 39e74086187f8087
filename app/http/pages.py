"""HTML pages from templates: no external resources, all values escaped, and no scripts unless a page has a
content security policy of its own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
from litestar import MediaType, Response

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_SHARED = Path(__file__).parent  #: the folder of `page_head.html`, which every page includes


Filters = dict[str, Callable[..., Any]]


def environment(filters: Filters, *folders: Path) -> jinja2.Environment:
    """The templates in these folders; `filters` are added to the standard ones."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters |= filters
    return templates


def render(template: Path, filters: Filters, **values: Any) -> str:
    """The template, rendered with `values`."""
    return environment(filters, template.parent, _SHARED).get_template(template.name).render(values)


def html_response(page: bytes, policy: str = _POLICY) -> Response[bytes]:
    """A page, with a content security policy: by default one that forbids scripts and external resources."""
    headers = {"Content-Security-Policy": policy, "Cache-Control": "public, max-age=300"}
    return Response(page, media_type=MediaType.HTML, headers=headers)
