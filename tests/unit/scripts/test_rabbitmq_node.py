"""The data of a private RabbitMQ node, from one start to the next."""

from pathlib import Path

import pytest

from scripts.local_services.rabbitmq_node import FEATURES, BrokerNode


@pytest.mark.parametrize(
    ("enabled", "kept"), [(FEATURES, True), (FEATURES[:4], False), ((), False), (None, True)]
)
def test_a_first_start_that_was_interrupted_begins_anew(
    tmp_path: Path, enabled: tuple[str, ...] | None, kept: bool
) -> None:
    node = BrokerNode(tmp_path, "rabbit@localhost", "127.0.0.1", 1, 2, 3, 4, 5)
    queues = tmp_path / "mnesia" / node.name / "queues"
    queues.mkdir(parents=True)
    if enabled is not None:
        (tmp_path / "mnesia" / f"{node.name}-feature_flags").write_text(f"[{','.join(enabled)}].\n")
    node.configure("secret", None)
    assert queues.exists() is kept
    assert (tmp_path / "mnesia").is_dir()
