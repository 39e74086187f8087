"""The systemd units: what they start exists, and each is as confined as `systemd-analyze` demands."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from app.cli import main
from app.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
UNITS = sorted((ROOT / "scripts" / "deploy").glob("*.service"))
#: The highest exposure that a unit may have, in tenths, as `--threshold` has it.
EXPOSURE = 30


def settings_of(unit: Path) -> dict[str, list[str]]:
    """The values of each name in the section [Service]."""
    section = unit.read_text().partition("[Service]")[2].partition("\n[")[0]
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(\w+)=(.*)$", section, re.MULTILINE):
        found.setdefault(name, []).append(value)
    return found


def confinement(unit: Path) -> str:
    """All from the first line on that takes something from the process."""
    return unit.read_text().partition("CapabilityBoundingSet=")[2].partition("[Install]")[0].strip()


def test_each_process_has_a_unit() -> None:
    names = {"serve", "feed", "ingest", "broker-authorisation", "migrate"}
    assert {unit.stem.removeprefix("matchfeed-") for unit in UNITS} == names
    for unit in UNITS:
        [start] = settings_of(unit)["ExecStart"]
        program, command = start.split()
        assert program == "/opt/matchfeed/current/bin/matchfeed"
        assert command in main.commands and unit.stem == f"matchfeed-{command}"


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_settings_that_a_unit_sets_exist(unit: Path) -> None:
    known = {name.upper() for name in Settings.__struct_fields__} | {"LANG"}
    assert {line.split("=")[0] for line in settings_of(unit)["Environment"]} <= known


def test_every_process_that_stays_has_a_port_of_its_own_for_metrics() -> None:
    """The web processes among them: most alerts are made of what they observe."""
    staying = [unit for unit in UNITS if settings_of(unit)["Type"] != ["oneshot"]]
    ports = [line for unit in staying for line in settings_of(unit)["Environment"] if "METRICS_PORT" in line]
    assert len(ports) == len(set(ports)) == len(staying)


def test_all_units_are_confined_alike() -> None:
    """Read from the files, so that it holds where systemd is missing too."""
    [confined] = {confinement(unit) for unit in UNITS}
    for needed in (
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        "ProtectHome=yes",
        "PrivateDevices=yes",
        "PrivateTmp=yes",
        "PrivateUsers=yes",
        "MemoryDenyWriteExecute=yes",
        "RestrictNamespaces=yes",
        "SystemCallFilter=@system-service",
        "SystemCallFilter=~@privileged",
    ):
        assert needed in confined.splitlines()
    assert all(settings_of(unit)["User"] == ["matchfeed"] for unit in UNITS)
    assert all(settings_of(unit)["CapabilityBoundingSet"] == [""] for unit in UNITS)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_finds_little_exposed(unit: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is missing (Debian package systemd); the units' lines are tested above")
    done = subprocess.run(
        [analyze, "security", "--offline=true", f"--threshold={EXPOSURE}", "--no-pager", str(unit)],
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.splitlines()[-1:] + done.stderr.splitlines()
    assert "Overall exposure level" in done.stdout
