"""The XML schemas, for clients that validate: `/v1/schemas/feed.xsd` and the others."""

from importlib.resources import files
from typing import Any

from litestar.params import FromPath

from app.http.handlers import get
from app.http.representation import Format, ResponseBody
from app.http.response import RenderedResponse
from app.kit.errors import NotFound

#: Read once: the schemas belong to the build, as the generated writers do.
_SCHEMAS = {
    file.name: ResponseBody(file.read_bytes(), Format.XML)
    for file in sorted(files("app").joinpath("schemas").iterdir(), key=lambda file: file.name)
    if file.name.endswith(".xsd")
}


@get("/v1/schemas/{name:str}", opt={"format": Format.XML})
async def schema(name: FromPath[str]) -> RenderedResponse[Any]:
    """One schema file, the very one from which the service's XML is generated."""
    if name not in _SCHEMAS:
        raise NotFound(f"There is no schema {name!r}; there are {', '.join(_SCHEMAS)}.")
    return RenderedResponse(_SCHEMAS[name])
