"""`matchfeed certify` where it starts no service; tests/e2e/test_certify.py has the rest."""

import json
from pathlib import Path

from app.kit.control_characters import has_control_characters
from app.sandbox.certification import certificate
from app.sandbox.certification.accidents import ACCIDENTS
from app.sandbox.certification.verdicts import Run as Certified
from app.sandbox.certification.verdicts import Verdict
from tests.support.command_line import Run


def test_it_lists_every_accident_with_what_a_right_client_does(run: Run) -> None:
    listed = json.loads(run("certify", "--list").output)
    assert [each["name"] for each in listed] == list(ACCIDENTS)
    for each in listed:
        assert each["what"] and each["client"] and each["why"] and each["channels"]


def test_it_verifies_a_certificate(run: Run, tmp_path: Path) -> None:
    passed = Certified(
        "acme", "2.4", "amqp", 7, "matchfeed", "2026-11-29", "2026-11-29", (Verdict("gap", "passed"),)
    )
    file = tmp_path / "certificate.json"
    file.write_bytes(certificate.signed(passed, certificate.signing_key(tmp_path / "key.pem")))
    verified = run("certify", "--verify", str(file))
    assert json.loads(verified.stdout)["accidents"] == ["gap"]
    assert verified.stderr == "valid: acme 2.4 has passed not all, but 1 accidents of amqp\n"
    file.write_bytes(file.read_bytes().replace(b"acme", b"evil"))
    refused = run("certify", "--verify", str(file))
    assert refused.exit_code == 1 and "altered" in refused.output


def test_what_a_client_is_called_does_not_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    named = Certified("\x1b[2J\u202eacme", "2", "amqp", 7, "x", "x", "x", (Verdict("gap", "passed"),))
    file = tmp_path / "certificate.json"
    file.write_bytes(certificate.signed(named, certificate.signing_key(tmp_path / "key.pem")))
    verified = run("certify", "--verify", str(file))
    assert "valid: \\u001b[2J\\u202eacme 2" in verified.stderr
    assert not has_control_characters(verified.output)


def test_a_client_that_cannot_be_started_is_refused_at_once(run: Run) -> None:
    for command, said in (("nosuchprogram --x", "no program 'nosuchprogram'"), ("'x", "is no command")):
        refused = run("certify", "--client", command)
        assert refused.exit_code == 2 and said in refused.output


def test_no_name_of_a_customer_is_taken(run: Run) -> None:
    refused = run("certify", "--tenant", "acme")
    assert refused.exit_code == 2 and "certification" in refused.output
