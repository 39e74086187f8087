"""Certification, in short, on one service: our clients pass over each channel, as does one that somebody
started, and one with the habits of an SDK; clients with a fault are caught."""

import subprocess
import sys
from collections.abc import Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from app.kit.errors import Refusal
from app.sandbox.certification import certificate
from app.sandbox.certification.run import certify_on
from app.sandbox.certification.verdicts import Run
from scripts.services import Services
from tests.certification.runs import CLIENTS, SDK_CLIENT, caught, client_environment, served, wanted
from tests.support import services as support
from tests.support.lengths import short_then_long
from tests.support.loop import Loop

SHORT = {
    "amqp": ("gap",),
    "http": ("too-late",),
    "events": ("cut-in-frame",),
    "websocket": ("restarted",),
}
CAUGHT = ("ignores-x-prev-seq", "forgets-rollbacks")
_SECONDS = 240.0
_MUTANT_PATIENCE = 8.0  #: what they have wrong stays wrong


class Certification:
    """A service, on which runs follow each other."""

    def __init__(self, loop: Loop, service: Any, operator_key: str) -> None:
        self._loop, self._place = loop, (service, operator_key)

    def run(self, channel: str, directory: Path, **others: object) -> Run:
        return self._done(certify_on(*self._place, wanted(channel, directory, **others)))

    def caught(self, name: str, directory: Path) -> Any:
        return self._done(caught(*self._place, name, directory, patience=_MUTANT_PATIENCE))

    def _done(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run(work, _SECONDS)


@pytest.fixture(scope="module")
def certification(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Certification]:
    settings = support.settings_for(services, services.database_url)
    directory = tmp_path_factory.mktemp("certification")
    with Loop() as loop, loop.opened(served(settings, directory)) as (service, operator_key):
        yield Certification(loop, service, operator_key)


def test_our_client_is_certified(certification: Certification, tmp_path: Path) -> None:
    only = ("rollback-held", "repeated")
    run = certification.run("amqp", tmp_path, only=only)
    assert run.passed, run.verdicts
    assert run.client == "matchfeed-client"
    key = certificate.signing_key(tmp_path / "key.pem")
    found, _ = certificate.verified(certificate.signed(run, key))
    assert sorted(found["accidents"]) == sorted(only)


@pytest.mark.parametrize(("channel", "only"), SHORT.items(), ids=list(SHORT))
def test_our_client_passes_over_each_channel(
    certification: Certification, tmp_path: Path, channel: str, only: tuple[str, ...]
) -> None:
    run = certification.run(channel, tmp_path, only=only)
    assert run.passed, run.verdicts


@pytest.mark.parametrize("language", ["typescript", "go"])
@pytest.mark.parametrize("channel", short_then_long(list(SHORT)))
def test_clients_in_other_languages_pass(
    certification: Certification, tmp_path: Path, language: str, channel: str
) -> None:
    run = certification.run(channel, tmp_path, only=SHORT[channel], command=CLIENTS[language]())
    assert run.passed, run.verdicts


def test_a_client_that_others_started_needs_no_report(certification: Certification, tmp_path: Path) -> None:
    """It is started with what is announced, and its self-checks are what it reports."""
    started: list[subprocess.Popen[bytes]] = []

    def start(environment: Mapping[str, str]) -> None:
        command = [sys.executable, "-m", "tests.certification.self_checking"]
        started.append(subprocess.Popen(command, env=client_environment(environment)))

    try:
        run = certification.run("amqp", tmp_path, only=("gap", "restarted"), command="", announce=start)
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert {each.accident: each.outcome for each in run.verdicts} == {"gap": "passed", "restarted": "not run"}
    assert run.client == "a client without a name" and not run.passed


def test_a_client_logs_in_as_sdks_do(certification: Certification, tmp_path: Path) -> None:
    run = certification.run("amqp", tmp_path, only=("void",), command=SDK_CLIENT.format("Java 0.0.x"))
    assert run.passed, run.verdicts


def test_a_client_that_ends_before_it_follows_is_named(certification: Certification, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"ended by itself, with status 3; .*client-1\.log"):
        certification.run("amqp", tmp_path, command="sh -c 'exit 3'")


@pytest.mark.parametrize("name", CAUGHT)
def test_faults_are_caught(certification: Certification, tmp_path: Path, name: str) -> None:
    good, verdict = certification.caught(name, tmp_path)
    assert good, verdict
