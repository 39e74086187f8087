"""Structured logs: one JSON line per event, each findable by `request_id` or `match_id`.

`bind(match_id=…)` tags everything logged while the block runs (context variables, so tasks inherit it).
Values whose name says secret (`password`, `token`, `api_key`, `key`, `secret`, `authorization`) are
replaced before rendering, and so is the password part of any URL: no secret ever reaches a log.
"""

import logging
import re
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import structlog

_bound: ContextVar[Mapping[str, Any]] = ContextVar("bound", default={})  # noqa: B039 - never changed in place
_SECRET_NAMES = frozenset({"password", "token", "api_key", "key", "secret", "authorization"})
_URL_PASSWORD = re.compile(r"(?<=://)([^/\s:@]+):([^/\s@]+)@")
_QUERY_SECRET = re.compile(r"\b(api_key|token)=[^&\s\"']+")


class bind:
    """`with bind(name=value):` tags what is logged inside. One context variable for all tags: cheap to
    set."""

    __slots__ = ("_token", "_values")

    def __init__(self, **values: Any) -> None:
        self._values = values

    def __enter__(self) -> None:
        self._token = _bound.set({**_bound.get(), **self._values})

    def __exit__(self, *_: object) -> None:
        _bound.reset(self._token)


def get_logger(name: str) -> Any:
    """A logger whose lines name their module."""
    return structlog.get_logger(module=name)


def redact(text: str) -> str:
    """`text` without URL passwords and without `api_key=`/`token=` values."""
    return _QUERY_SECRET.sub(r"\1=***", _URL_PASSWORD.sub(r"\1:***@", text))


def _without_secrets(_: Any, __: str, event: dict[str, Any]) -> dict[str, Any]:
    for name, value in event.items():
        if name in _SECRET_NAMES:
            event[name] = "***"
        elif isinstance(value, str):
            event[name] = redact(value)
    return event


def _tagged(_: Any, __: str, event: dict[str, Any]) -> dict[str, Any]:
    return {**_bound.get(), **event}


class RedactingFilter(logging.Filter):
    """For the server's own loggers, which write whole URLs: redacts secrets in them, however their handlers
    are configured."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(redact(arg) if isinstance(arg, str) else arg for arg in record.args)
        record.msg = redact(str(record.msg))
        return True


_SERVER = ("uvicorn.error", "uvicorn.access")
_REDACTED = RedactingFilter()
_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    _tagged,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def use_stderr() -> None:
    """Send our records to standard error as plain text: for commands whose standard output is their
    result. A traceback shows no local variables: they may be secrets."""
    render: list[Any] = [
        structlog.processors.format_exc_info,
        _without_secrets,
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
    structlog.configure(
        processors=[*_SHARED, *render],
        wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )


def configure(process: str, *, level: str = "INFO") -> None:
    """Send all records, the libraries' included, to standard error as JSON lines."""
    render: list[Any] = [
        structlog.processors.format_exc_info,
        _without_secrets,
        structlog.processors.JSONRenderer(),
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_SHARED, structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *render],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    for name in _SERVER:
        logging.getLogger(name).addFilter(_REDACTED)
    structlog.configure(
        processors=[*_SHARED, *render],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level)),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(process=process)
