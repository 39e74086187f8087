"""Ports on loopback."""

import socket
from threading import Timer

from scripts.local_services import ports


def test_a_taken_port_is_not_free_and_is_replaced() -> None:
    with socket.create_server((ports.LOOPBACK, 0)) as used:
        port = used.getsockname()[1]
        assert not ports.is_free(port)
        assert ports.answers(ports.LOOPBACK, port)
        [other] = ports.free_ports([port])
        assert other != port


def test_a_wanted_port_is_kept_when_free() -> None:
    [port] = ports.free_ports([0])
    assert ports.is_free(port)
    assert not ports.answers(ports.LOOPBACK, port)
    assert ports.free_ports([port, 0])[0] == port


def test_ports_asked_for_together_differ() -> None:
    assert len(set(ports.free_ports([0] * 20))) == 20


def test_waiting_ends_when_the_process_does() -> None:
    assert not ports.wait_until(lambda: False, alive=lambda: False, seconds=60)
    assert ports.wait_until(lambda: True, alive=lambda: False, seconds=60)
    assert not ports.wait_until(lambda: False, alive=lambda: True, seconds=0.01)


def test_a_port_that_is_being_let_go_is_waited_for() -> None:
    used = socket.create_server((ports.LOOPBACK, 0))
    port = used.getsockname()[1]
    letting_go = Timer(0.2, used.close)
    letting_go.start()
    assert ports.free_ports([port], patience=20) == [port]
    letting_go.join()
