"""The parts of certification that need no service: the certificate, the order, what is compared."""

import base64
import json
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import settings
from app.cli.certify_commands import service_config
from app.kit.errors import Conflict
from app.sandbox.certification import certificate
from app.sandbox.certification.accidents import ACCIDENTS
from app.sandbox.certification.clients import Clients
from app.sandbox.certification.page import rendered
from app.sandbox.certification.run import chosen
from app.sandbox.certification.stage import CHANNELS
from app.sandbox.certification.verdicts import Run, Verdict, Wrong
from tests.certification.mutants import MUTANTS
from tests.certification.runs import wanted
from tests.support.eventually import eventually

VERDICTS = (Verdict("gap", "passed", 7.8), Verdict("void", "passed", 3.1))
RUN = Run("acme", "2.4", "amqp", 7, "matchfeed 0.3", "2026-11-29T18:00:00", "2026-11-29T18:09:00", VERDICTS)


def test_a_certificate_is_verified(tmp_path: Path) -> None:
    key = certificate.signing_key(tmp_path / "key.pem")
    found, public_key = certificate.verified(certificate.signed(RUN, key))
    assert (
        found["accidents"] == ["gap", "void"]
        and not found["complete"]
        and found["client"] == "acme"
        and found["seed"] == 7
    )
    again = certificate.signing_key(tmp_path / "key.pem")
    assert certificate.verified(certificate.signed(RUN, again))[1] == public_key
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "field", ["client", "client_version", "channel", "seed", "service", "accidents", "complete"]
)
def test_an_altered_certificate_is_refused(field: str, tmp_path: Path) -> None:
    document = json.loads(certificate.signed(RUN, certificate.signing_key(tmp_path / "key.pem")))
    document["certificate"][field] = "something else"
    with pytest.raises(Conflict, match="altered"):
        certificate.verified(json.dumps(document).encode())


@pytest.mark.parametrize("raw", [b"", b"[]", b'{"certificate": {}}', b"\xff", b"[" * 100_000])
def test_what_is_no_certificate_is_refused(raw: bytes) -> None:
    with pytest.raises(Conflict, match="no certificate"):
        certificate.verified(raw)


@pytest.mark.parametrize("signed", ["acme", {}, {"client": 7}])
def test_what_somebody_signs_who_is_no_certifier_is_no_certificate(signed: object, tmp_path: Path) -> None:
    key = certificate.signing_key(tmp_path / "key.pem")
    raw = json.dumps(signed, separators=(",", ":")).encode()
    document = json.loads(certificate.signed(RUN, key))
    document |= {"certificate": signed, "signature": base64.b64encode(key.sign(raw)).decode()}
    with pytest.raises(Conflict, match="no certificate"):
        certificate.verified(json.dumps(document).encode())


async def test_a_client_is_not_started_with_the_installations_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SECRET_KEY", "DATABASE_URL", "RABBITMQ_URL", "OF_THE_CLIENT"):
        monkeypatch.setenv(name, "given")
    code = "import json, os; json.dump(dict(os.environ), open('environment', 'w'))"
    monkeypatch.chdir(tmp_path)
    withheld = service_config(settings.load({"DATABASE_URL": "postgresql://x"})).environment
    clients = Clients(
        shlex.join((sys.executable, "-c", code)), tmp_path, lambda _: {"CERTIFY": "1"}, withheld
    )
    await clients.start()
    await eventually(lambda: clients.ended(1) == 0)
    given = json.loads((tmp_path / "environment").read_text())
    assert given["OF_THE_CLIENT"] == "given" and given["CERTIFY"] == "1"
    assert not given.keys() & withheld.keys()


@given(st.integers(), st.sampled_from(CHANNELS))
def test_the_order_is_the_seeds(seed: int, channel: str) -> None:
    run = wanted(channel, Path(), seed=seed)
    order = [each.name for each in chosen(run)]
    assert order == [each.name for each in chosen(run)]
    assert sorted(order) == sorted(name for name, each in ACCIDENTS.items() if channel in each.channels)


def test_mutants_name_accidents_of_their_channel() -> None:
    for name, mutant in MUTANTS.items():
        assert mutant.catches, name
        for accident in mutant.catches:
            assert mutant.channel in ACCIDENTS[accident].channels, (name, accident)


def test_names_are_text_on_the_page() -> None:
    wrong = Wrong("od:match:1 market <b>", "<script>", "won", ('event_id="1"',))
    run = Run("<img>", "1", "amqp", 1, "", "", "", (Verdict("gap", "failed", text="<i>", wrong=(wrong,)),))
    page = rendered(run)
    for tag in ("<script>", "<img>", "<i>", "<b>"):
        assert tag not in page
    assert not run.passed
