"""The command line in this process."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from click.testing import Result

from app.settings import Settings

Run = Callable[..., Result]


def set_environment(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    """Have commands read these settings from the environment."""
    for name, value in msgspec.to_builtins(settings).items():
        monkeypatch.setenv(name, str(value))


def ok(result: Result) -> Any:
    """What a command that went well printed, read as JSON."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)
