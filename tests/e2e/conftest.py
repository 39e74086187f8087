"""A demo of a test's own, and one that the tests of a module share."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.services import Services
from tests.e2e.test_demo import Place
from tests.support import browser


@pytest.fixture
def place(services: Services, tmp_path: Path) -> Iterator[Place]:
    """For a demo of this test's own, which it starts."""
    place = Place(services, tmp_path / "var")
    yield place
    place.run("--stop")


@pytest.fixture(scope="module")
def demo_place(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Of the demo that the tests of a module share."""
    return Place(services, tmp_path_factory.mktemp("demo") / "var")


@pytest.fixture(scope="module")
def demo(demo_place: Place) -> Iterator[dict[str, Any]]:
    """What clients need to know of a demo that runs."""
    browser.require()
    try:
        yield demo_place.start()
    finally:
        demo_place.run("--stop")
