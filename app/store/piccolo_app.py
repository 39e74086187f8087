"""Our Piccolo app: its tables and the folder of its migrations."""

from pathlib import Path

from piccolo.conf.apps import AppConfig, table_finder

APP_CONFIG = AppConfig(
    app_name="matchfeed",
    migrations_folder_path=Path(__file__).parent / "piccolo_migrations",
    table_classes=table_finder(
        [
            f"app.store.tables.{noun}"
            for noun in (
                *("match", "change", "ledger", "combination", "claim", "replay", "tenant"),
                *("reference", "operations", "source", "status"),
            )
        ]
    ),
)
