"""`nox -s deploy`: from an empty Debian root to a tenant connected over TLS, by docs/deploy.md alone.

Everything happens in namespaces: a server with a systemd of its own, and an administrator's computer that
reaches it over the network. The commands are the page's, read from it; beside them stand only checks.
"""

import argparse
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from .machine import Machine
from .networks import Networks, run
from .page import PAGE, ROOT, Block, blocks
from .secrets_watch import Arguments, files_with_any

_HOST = "feed.example.com"
_PUBLIC = {80, 443, 5671, 8443}
_TOOLS = ("debootstrap", "systemd-nspawn", "slirp4netns", "nsenter", "ip")
_CONNECTED = "A tenant connects"  #: the title of the blocks by which the first tenant is connected
#: ssh and scp, without a server for them on the machine.
_PRELUDE = """\
set -euo pipefail
ssh() { shift; ${WITHIN} bash -c "$*"; }
scp() { eval cp "${SERVER_ROOT}$(case ${1#*:} in /*) ;; *) echo /root/ ;; esac)${1#*:}" "$2"; }
"""


class Rehearsal:
    """One run; `output` is everything that the page's commands print."""

    def __init__(self, machine: Machine, networks: Networks, work: Path) -> None:
        self._machine, self._networks, self._work = machine, networks, work
        self.output = ""
        self.commands = 0
        self.secrets: set[str] = set()  #: every one that there was

    def run(self, block: Block, *, again: bool = False) -> None:
        """Run a block's commands; raises `SystemExit` with what they printed when one fails. Commands are
        printed and counted once."""
        for line in () if again else block.commands():
            print(f"  {block.where}: {line}", flush=True)
            self.commands += 1
        command: Sequence[str]
        if block.where == "server":
            command = self._machine.within("bash", "-c", "set -euo pipefail\n" + block.text)
        else:
            command = self._networks.within_here("bash", "-c", _PRELUDE + block.text)
        environment = {
            **os.environ,
            "WITHIN": " ".join(self._machine.within()),
            "SERVER_ROOT": str(self._machine.root),
        }
        done = subprocess.run(
            command, cwd=self._work, env=environment, text=True, capture_output=True, check=False
        )
        self.output += done.stdout + done.stderr
        self.secrets |= self._present_secrets()
        if done.returncode:
            raise SystemExit(f"deploy: a command of the page failed:\n{done.stdout}{done.stderr}")

    def check(self) -> None:
        """Nothing but the public ports answers, and no unit has failed."""
        assert self._networks.open_ports() == _PUBLIC, "other ports than the public ones answer"
        failed = run(*self._machine.within("systemctl", "--failed", "--no-legend"))
        assert not failed.strip(), failed

    def _present_secrets(self) -> set[str]:
        """The secrets that the service has, and those that the tenant was given."""
        root = self._machine.root
        texts = [path.read_text() for path in root.glob("etc/matchfeed/secrets.env")]
        texts += [path.read_text() for path in (root / "root").glob("acme-*")]
        found = re.findall(
            r"SECRET_KEY=(\S+)|://[^:/\s]+:([^@\s]+)@|\"api_key\": \"([^\"]+)\"", "\n".join(texts)
        )
        return {secret for group in found for secret in group if secret}

    def journal(self) -> str:
        return run(*self._machine.within("journalctl", "--quiet", "--output=cat"))


def main() -> None:
    options = argparse.ArgumentParser(prog="nox -s deploy", description=__doc__)
    options.add_argument("--keep", action="store_true", help="leave the server's files for inspection")
    options.add_argument(
        "--root", type=Path, help="a base system made earlier, copied instead of debootstrap"
    )
    arguments = options.parse_args()
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing or os.geteuid():
        raise SystemExit(
            f"deploy: needs root and {', '.join(_TOOLS)} (Debian: debootstrap systemd-container "
            f"slirp4netns iproute2); missing: {', '.join(missing) or 'root'}"
        )
    (ROOT / "var").mkdir(exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix="deploy-", dir=ROOT / "var"))
    with ExitStack() as stack:
        if not arguments.keep:
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
        _rehearse(directory, arguments.root, stack)


def _rehearse(directory: Path, base: Path | None, stack: ExitStack) -> None:
    networks = Networks(directory, _HOST)
    machine = Machine(directory / "root", networks, directory / "machine.log")
    began = time.monotonic()
    if base:
        run("cp", "--archive", base, machine.root)
    machine.create(bootstrapped=base is not None)
    stack.callback(networks.close)
    networks.open()
    stack.callback(machine.stop)
    machine.boot(directory)
    print(f"an empty Debian server: {_minutes(began)}", flush=True)
    # The administrator's checkout: what is committed, and nothing else.
    work = directory / "checkout"
    run("git", "clone", "--quiet", ROOT, work)
    rehearsal = Rehearsal(machine, networks, work)
    with Arguments() as arguments:
        _follow(rehearsal, machine, directory)
    _check_secrets(rehearsal, machine, arguments)


def _follow(rehearsal: Rehearsal, machine: Machine, directory: Path) -> None:
    """Run the page, part by part; each after the first tenant's is checked by connecting the tenant again."""
    found = blocks(PAGE.read_text())
    [connect] = [block for block in found if block.title == _CONNECTED]
    began, connected = time.monotonic(), False
    for block in found:
        print(f"{block.title} ({_minutes(began)})", flush=True)
        rehearsal.run(block)
        if block is connect:
            connected = True
            print(f"a tenant is connected: {rehearsal.commands} commands, {_minutes(began)}", flush=True)
        elif connected:
            rehearsal.run(connect, again=True)
    print(f"the whole page: {rehearsal.commands} commands, {_minutes(began)}", flush=True)
    rehearsal.check()
    print("the server is switched off and on again", flush=True)
    machine.stop()
    machine.boot(directory)
    rehearsal.run(connect, again=True)
    rehearsal.check()


def _check_secrets(rehearsal: Rehearsal, machine: Machine, arguments: Arguments) -> None:
    secrets = rehearsal.secrets
    assert len(secrets) == 2 * 4 + 3, f"{len(secrets)} secrets: ours, replaced once, and the tenant's"
    shown = [secret for secret in secrets if secret in rehearsal.output + rehearsal.journal()]
    logged = files_with_any(machine.root / "var/log", secrets)
    assert not shown, "a command or the journal shows a secret"
    assert not logged, logged
    assert not arguments.with_any(secrets), "a process had a secret among its arguments"
    print("no secret in arguments, logs and output")


def _minutes(since: float) -> str:
    return f"{(time.monotonic() - since) / 60:.1f} minutes"


if __name__ == "__main__":
    main()
