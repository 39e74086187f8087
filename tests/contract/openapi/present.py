"""The documents as the present routes make them, and where those recorded last lie."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec

from app.channels.rest.documents import OpenApiDocuments, generated
from app.http.openapi.document import Examples
from app.main import create_app
from app.settings import Settings

Json = dict[str, Any]
_DOCS = Path(__file__).resolve().parents[3] / "docs"
RECORDED = {"public": _DOCS / "openapi.json", "operators": _DOCS / "openapi-operators.json"}


def made() -> dict[str, Json]:
    """Both documents, made anew."""
    generated.cache_clear()
    provided: Any = create_app(Settings()).dependencies["openapi_documents"]
    with ThreadPoolExecutor(1) as pool:  # the caller may have an event loop
        documents: OpenApiDocuments = pool.submit(asyncio.run, provided.dependency()).result()
    return {name: msgspec.json.decode(getattr(documents, name).plain) for name in RECORDED}


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    """Path, method and description of each operation."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def followed(document: Json, node: Json) -> Json:
    """What a reference refers to; anything else as it is."""
    found: Any = document if "$ref" in node else node
    for part in node.get("$ref", "").split("/")[1:]:
        found = found[part]
    return dict(found)


def faults(document: Json, schema: Json, example: Any) -> list[str]:
    """Where `example` violates `schema`."""
    rooted = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    validator = jsonschema_rs.validator_for(rooted | {"components": document["components"]})
    return [
        f"{'/'.join(map(str, error.instance_path))}: {error.message}"
        for error in validator.iter_errors(example)
    ]


def fits(document: Json, operation: Json, answers: Examples) -> bool:
    """Whether recorded answers still are what the operation answers."""
    success = operation["responses"][min(operation["responses"])]
    content = success.get("content", {})
    return set(answers) <= set(content) and not any(
        faults(document, content[kind]["schema"], example) for kind, example in answers.items()
    )
