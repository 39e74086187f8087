"""Write the pages that are made from the code: `nox -s pages`."""

from pathlib import Path

from scripts.pages import configuration, dependencies, metrics_page, packages

DOCS = Path(__file__).resolve().parents[2] / "docs"


def pages() -> dict[str, str]:
    """The text of each page, by its name in `docs/`."""
    return {
        "configuration.md": configuration.page(),
        "dependencies.md": dependencies.page(),
        "metrics.md": metrics_page.page(),
        "architecture.svg": packages.picture(),
    }


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text)
        print(f"docs/{name}")
