"""Packages for an ordinary user: unpacked below a directory, whole or not at all. apt-get is replaced by a
script, which the test of an unpacked broker (`tests/integration/scripts`) does without."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.local_services import debian_packages, rabbitmq_package
from scripts.local_services.debian_packages import PackageError, missing, unpacked, without
from scripts.local_services.processes import ServiceError

pytestmark = pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="no dpkg-deb: not a Debian")

STATUS = """\
Package: erlang-base
Status: install ok installed
Version: 1:25.2.3
Description: runtime
 Package: of nothing

Package: erlangen-map
Status: install ok installed

Package: rabbitmq-server
Status: install ok installed
"""


class Apt:
    """A machine whose apt-get offers the package `hello`, once its lists are there."""

    def __init__(self, directory: Path) -> None:
        self.calls, self.lists, self.archive = (directory / name for name in ("calls", "have", "hello.deb"))
        tree = directory / "tree"
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN" / "control").write_text(
            "Package: hello\nVersion: 1\nArchitecture: all\nMaintainer: Nobody <nobody@example.com>\n"
            "Description: greets\n"
        )
        (tree / "usr").mkdir()
        (tree / "usr" / "hello").write_text("hello")
        subprocess.run(["dpkg-deb", "--build", tree, self.archive], check=True, stdout=subprocess.DEVNULL)
        script = directory / "bin" / "apt-get"
        script.parent.mkdir()
        script.write_text(
            f'#!/bin/sh\necho "$@" >>{self.calls}\n'
            f'case "$*" in *update) touch {self.lists}; exit;; esac\n'
            f'[ -e {self.lists} ] || {{ echo "E: Unable to locate package" >&2; exit 100; }}\n'
            f'case "$*" in *download*hello*) cp {self.archive} .;; *--simulate*) '
            'printf "Inst adduser (3)\\nInst libfew1 (1)\\nInst erlang-base (2)\\n";;\n'
            '*) echo "E: Unable to locate package $*" >&2; exit 100;; esac\n'
        )
        script.chmod(0o755)

    def count(self, word: str) -> int:
        return self.calls.read_text().count(word)


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Apt:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return Apt(tmp_path)


def test_packages_are_downloaded_once_and_unpacked(apt: Apt, tmp_path: Path) -> None:
    apt.lists.touch()
    root = unpacked(tmp_path / "packages", ["hello"])
    assert (root / "usr" / "hello").read_text() == "hello"
    assert unpacked(tmp_path / "packages", ["hello"]) == root
    assert (apt.count("download"), apt.count("update")) == (1, 0)


def test_missing_lists_are_fetched_into_the_directory(apt: Apt, tmp_path: Path) -> None:
    root = unpacked(tmp_path / "packages", ["hello"])
    assert (root / "usr" / "hello").exists()
    assert apt.count("update") == 1
    assert f"Dir::State={tmp_path / 'packages' / 'lists'}" in apt.calls.read_text()


def test_what_cannot_be_downloaded_leaves_nothing_that_looks_complete(apt: Apt, tmp_path: Path) -> None:
    with pytest.raises(PackageError, match="1 of 2 packages"):
        unpacked(tmp_path / "packages", ["hello", "goodbye"])
    assert not (tmp_path / "packages" / "root").exists()
    assert (unpacked(tmp_path / "packages", ["hello"]) / "usr" / "hello").exists()


def test_a_damaged_archive_leaves_nothing_that_looks_complete(apt: Apt, tmp_path: Path) -> None:
    apt.lists.touch()
    apt.archive.write_bytes(apt.archive.read_bytes()[:200])
    with pytest.raises(PackageError, match="dpkg-deb"):
        unpacked(tmp_path / "packages", ["hello"])
    assert not (tmp_path / "packages" / "root").exists()


def test_only_ours_and_libraries_are_missing(
    apt: Apt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = tmp_path / "dpkg"
    status.write_text(STATUS)
    monkeypatch.setattr(debian_packages, "_STATUS", status)
    apt.lists.touch()
    assert missing(tmp_path / "packages", "rabbitmq-server", re.compile(r"erlang-.*$")) == [
        "libfew1",
        "erlang-base",
    ]


def test_the_record_of_packages_keeps_the_others() -> None:
    kept = without(STATUS, re.compile(r"(rabbitmq-server|erlang-.*)$"))
    assert re.findall(r"^Package: (\S+)", kept, re.MULTILINE) == ["erlangen-map"]


def test_an_ordinary_user_without_a_mirror_is_told_what_to_install(
    apt: Apt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """apt-get offers no rabbitmq-server here."""
    monkeypatch.setattr(rabbitmq_package, "_SERVER", tmp_path / "none" / "rabbitmq-server")
    monkeypatch.setattr(rabbitmq_package, "_UNPACKED", tmp_path / "packages")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    printed: list[str] = []
    with pytest.raises(ServiceError, match="apt-get install rabbitmq-server"):
        rabbitmq_package.programs(printed.append)
    assert "downloading RabbitMQ" in printed[0]
