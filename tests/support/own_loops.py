"""A rule of the test run, as a plugin: no async fixture outlives a test, so every test has its own loop.

Where one does, all tests until its end share the event loop and its anyio runner, and what
ends the runner in one of them (a stray exception, a stray cancellation) fails every test after it. What must
live longer runs in `support.loop`.
"""

import inspect
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before anyio, which puts a function of its own there
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
    """Refuse a fixture that would keep one event loop for several tests."""
    work = fixturedef.func
    if fixturedef.scope != "function" and (
        inspect.iscoroutinefunction(work) or inspect.isasyncgenfunction(work)
    ):
        pytest.fail(
            f"{fixturedef.argname} is async and lives for a {fixturedef.scope}: see `support.own_loops`",
            pytrace=False,
        )
    return (yield)
