"""A Debian server from nothing: debootstrap's base system, with a systemd of its own (systemd-nspawn)."""

import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from .base_system import bootstrap, package_sources
from .networks import Networks, run

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
        if not bootstrapped:
            bootstrap(self.root, self._log, "standard")
        (self.root / "etc/apt/sources.list").write_text("\n".join(package_sources()) + "\n")
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
        enter = ("nsenter", "--target", self._leader(), "--all", "env", "--ignore-environment")
        return (*enter, "--chdir=/root", f"PATH={_PATH}", "HOME=/root", "LANG=C.UTF-8", *command)

    def stop(self) -> None:
        if self._nspawn is None:
            return
        if leader := self._leader():
            run("kill", f"-{_POWER_OFF}", leader)
        self._nspawn.wait(timeout=120)
        self._nspawn = None
