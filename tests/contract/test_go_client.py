"""The Go client: formatted, without what vet finds, and right by its own tests."""

from scripts import golang


def test_the_sources_are_formatted() -> None:
    assert golang.call("gofmt", "-l", ".") == ""


def test_its_own_tests_pass_and_vet_finds_nothing() -> None:
    """They run each time: the compiler's cache has results, too."""
    assert "ok" in golang.call("go", "test", "-vet=all", "-count=1", "./...")
