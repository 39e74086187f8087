"""A plugin of pytest: what runs from a test's first fixture to its last is recorded as run by that test,
in tasks and threads too."""

from collections.abc import Generator

import pytest
from coverage import Coverage


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    recorder = Coverage.current()
    assert recorder is not None, "runs under coverage.py only"
    recorder.switch_context(item.nodeid.partition("[")[0])
    try:
        return (yield)
    finally:
        recorder.switch_context("")
