"""A Debian server from nothing: debootstrap's base system, with a systemd of its own (systemd-nspawn)."""

import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from .networks import Networks, run

_SUITE = "bookworm"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_BOOT_SECONDS = 60.0
_POWER_OFF = signal.SIGRTMIN + 4  #: systemd's


class Machine:
    """A server whose files are in `root`."""

    def __init__(self, root: Path, networks: Networks, log: Path) -> None:
        self.root, self._networks, self._log = root, networks, log
        self._nspawn: subprocess.Popen[bytes] | None = None

    def create(self, bootstrapped: bool) -> None:
        """The base system of Debian's installer, from the mirror that this machine uses; unless it is there
        already."""
        sources = _debian_sources()
        command = ("debootstrap", "--include=dbus,ca-certificates", _SUITE, str(self.root))
        if not bootstrapped:
            with self._log.open("ab") as log:
                subprocess.run((*command, sources[0].split()[1]), check=True, stdout=log, stderr=log)
        (self.root / "etc/apt/sources.list").write_text("\n".join(sources) + "\n")
        (self.root / "etc/hostname").write_text("server\n")
        self._trust_what_we_trust()

    def _trust_what_we_trust(self) -> None:
        """Authorities that an administrator has added here may stand between us and package servers."""
        for certificate in Path("/usr/local/share/ca-certificates").glob("*.crt"):
            (self.root / "usr/local/share/ca-certificates" / certificate.name).write_bytes(
                certificate.read_bytes()
            )
        run("chroot", self.root, "update-ca-certificates")
        (self.root / "etc/pip.conf").write_text("[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n")

    def boot(self, directory: Path) -> None:
        """Start it; returns when systemd has started everything."""
        for name in ("hosts", "resolv.conf"):
            (self.root / "etc" / name).write_bytes((directory / name).read_bytes())
        with self._log.open("ab") as log:
            self._nspawn = subprocess.Popen(
                ("systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", "--console=pipe")
                + (f"--directory={self.root}", "--resolv-conf=off")
                + (f"--network-namespace-path=/run/netns/{self._networks.server}",),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        until = time.monotonic() + _BOOT_SECONDS
        while self._state() != "running":
            if time.monotonic() > until or self._nspawn.poll() is not None:
                raise SystemExit(f"deploy: the server did not start ({self._state()}); see {self._log}")
            time.sleep(0.5)

    def _state(self) -> str:
        if not self._leader():
            return "no systemd yet"
        command = self.within("systemctl", "is-system-running")
        return subprocess.run(command, text=True, check=False, capture_output=True).stdout.strip()

    def _leader(self) -> str:
        if self._nspawn is None:
            return ""
        found = subprocess.run(
            ("pgrep", "--parent", str(self._nspawn.pid)), text=True, check=False, stdout=subprocess.PIPE
        )
        return found.stdout.split()[0] if found.stdout else ""

    def within(self, *command: str) -> Sequence[str]:
        """The command, to be run on the server as root, in root's home."""
        environment = (f"PATH={_PATH}", "HOME=/root", "LANG=C.UTF-8")
        enter = (
            "nsenter",
            "--target",
            self._leader(),
            "--all",
            "env",
            "--ignore-environment",
            "--chdir=/root",
        )
        return (*enter, *environment, *command)

    def stop(self) -> None:
        if self._nspawn is None:
            return
        if leader := self._leader():
            run("kill", f"-{_POWER_OFF}", leader)
        self._nspawn.wait(timeout=120)
        self._nspawn = None


def _debian_sources() -> list[str]:
    """This machine's own package sources, as lines of sources.list; the release's first."""
    found = run(
        *("apt-get", "indextargets", "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)"),
        *("Created-By: Packages", "Origin: Debian"),
    )
    lines = sorted({line for line in found.splitlines() if line.split()[2].startswith(_SUITE)}, key=len)
    if not lines or lines[0].split()[2] != _SUITE:
        raise SystemExit(
            f"deploy: this machine's apt has no sources of Debian's {_SUITE}; apt-get update first"
        )
    return lines
