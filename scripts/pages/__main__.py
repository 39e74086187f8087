"""Write the files that are made from the code: `nox -s pages`."""

from pathlib import Path

from scripts.monitoring import dashboard, rules_file
from scripts.pages import alerts_page, certify_page, configuration, dependencies, metrics_page, packages

ROOT = Path(__file__).resolve().parents[2]


def pages() -> dict[str, str]:
    """The text of each file, by its path."""
    return {
        "docs/certify.md": certify_page.page(),
        "docs/configuration.md": configuration.page(),
        "docs/dependencies.md": dependencies.page(),
        "docs/metrics.md": metrics_page.page(),
        "docs/alerts.md": alerts_page.page(),
        "docs/architecture.svg": packages.picture(),
        "scripts/deploy/matchfeed-alerts.yml": rules_file.text(),
        "scripts/deploy/matchfeed-dashboard.json": dashboard.text(),
    }


if __name__ == "__main__":
    for name, text in pages().items():
        (ROOT / name).write_text(text)
        print(name)
