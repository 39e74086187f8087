"""What is said about the nodes of a broker."""

from app.broker.inventory import BrokerNode
from app.doctor.broker import members
from app.doctor.findings import State

ONE, TWO, THREE = (BrokerNode(f"mq{number}@host", running=True) for number in (1, 2, 3))


def test_nodes_that_run_together_are_well() -> None:
    assert members([ONE, TWO, THREE]).state is State.WELL


def test_a_node_that_is_separated_from_another_is_to_be_restarted() -> None:
    separated = BrokerNode("mq3@host", running=True, partitions=("mq1@host", "mq2@host"))
    found = members([ONE, TWO, separated])
    assert found.state is State.ILL
    assert "mq3@host is separated from mq1@host, mq2@host" in found.detail
    assert "restart" in found.action


def test_a_node_that_does_not_run_is_to_be_started() -> None:
    found = members([ONE, BrokerNode("mq2@host")])
    assert (found.state, "mq2@host does not run" in found.detail) == (State.ILL, True)


def test_without_a_list_of_nodes_nothing_is_known() -> None:
    assert members([]).state is State.UNKNOWN
