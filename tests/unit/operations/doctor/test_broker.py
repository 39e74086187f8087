"""What is said about the nodes of a broker."""

import msgspec

from app.broker.management_api import BrokerNode
from app.operations.doctor.broker import members
from app.operations.doctor.findings import State

ONE, TWO, THREE = (BrokerNode(f"mq{number}@host", running=True, uptime=1) for number in (1, 2, 3))


def test_nodes_that_run_together_are_well() -> None:
    assert members([ONE, TWO, THREE]).state is State.WELL


def test_a_node_that_is_separated_from_another_is_to_be_restarted() -> None:
    separated = BrokerNode("mq3@host", running=True, uptime=1, partitions=("mq1@host", "mq2@host"))
    found = members([ONE, TWO, separated])
    assert found.state is State.ILL
    assert "mq3@host is separated from mq1@host, mq2@host" in found.detail
    assert "restart" in found.action


def test_a_node_that_does_not_run_is_to_be_started() -> None:
    found = members([ONE, BrokerNode("mq2@host")])
    assert (found.state, "mq2@host does not run" in found.detail) == (State.ILL, True)


def test_without_a_list_of_nodes_nothing_is_known() -> None:
    assert members([]).state is State.UNKNOWN


def test_a_node_that_the_others_know_nothing_of_is_paused() -> None:
    """As nodes list one whose broker has stopped in the minority, while its Erlang runs."""
    listed = b'{"name": "mq3@host", "running": true, "uptime": null, "enabled_plugins": []}'
    paused = msgspec.json.decode(listed, type=BrokerNode)
    found = members([ONE, TWO, paused])
    assert (found.state, "mq3@host is paused" in found.detail) == (State.ILL, True)
    assert "restart one that is still paused" in found.action
