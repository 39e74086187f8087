"""Two networks of their own: the server's and the administrator's, joined by a cable, each with a way out.

They are network namespaces; slirp4netns gives each the way to package servers, without a change to this
machine's network.
"""

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

_SERVER, _HERE = "10.211.55.2", "10.211.55.1"
_NAMESERVER = "10.0.2.3"  #: slirp4netns's own


def run(*command: str | Path, input: str | None = None) -> str:
    """Its output; raises `CalledProcessError`."""
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, text=True, input=input, stdout=subprocess.PIPE).stdout


class Networks:
    """Made with `open`, gone with `close`. `host` is the server's name in both."""

    def __init__(self, directory: Path, host: str) -> None:
        self._directory, self._host = directory, host
        self.server, self.here = f"mf-server-{os.getpid()}", f"mf-here-{os.getpid()}"
        self._gateways: list[subprocess.Popen[bytes]] = []

    def open(self) -> None:
        for name in (self.server, self.here):
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        ours, theirs = f"mfh{os.getpid()}", f"mfs{os.getpid()}"
        peer = ("peer", "name", theirs, "netns", self.server)
        run("ip", "-n", self.here, "link", "add", ours, "type", "veth", *peer)
        for name, link, address in ((self.here, ours, _HERE), (self.server, theirs, _SERVER)):
            run("ip", "-n", name, "address", "add", f"{address}/24", "dev", link)
            run("ip", "-n", name, "link", "set", link, "up")
            self._gateways.append(self._gateway(name))
        (self._directory / "resolv.conf").write_text(f"nameserver {_NAMESERVER}\n")
        (self._directory / "hosts").write_text(f"127.0.0.1 localhost\n{_SERVER} {self._host}\n")

    def _gateway(self, name: str) -> "subprocess.Popen[bytes]":
        reading, writing = os.pipe()
        gateway = subprocess.Popen(
            ("slirp4netns", "--configure", "--disable-host-loopback", "--mtu=65520")
            + (f"--ready-fd={writing}", "--netns-type=path", f"/run/netns/{name}", "tap0"),
            pass_fds=(writing,),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(writing)
        with os.fdopen(reading, "rb") as ready:
            if not ready.read(1):
                raise SystemExit("deploy: slirp4netns could not start; does this machine have /dev/net/tun?")
        return gateway

    def close(self) -> None:
        for gateway in self._gateways:
            gateway.terminate()
            gateway.wait()
        for name in (self.server, self.here):
            subprocess.run(("ip", "netns", "delete", name), check=False)

    def within_here(self, *command: str) -> Sequence[str]:
        """The command, to be run in the administrator's network, which knows the server's name."""
        mounts = "".join(
            f"mount --bind {shlex.quote(str(self._directory / name))} /etc/{name} && "
            for name in ("hosts", "resolv.conf")
        )
        inner = ("unshare", "--mount", "sh", "-c", f'{mounts}exec "$@"', "sh", *command)
        return ("ip", "netns", "exec", self.here, *inner)

    def open_ports(self) -> set[int]:
        """The server's TCP ports that answer from outside, of all."""
        code = (
            "import socket\n"
            "for port in range(1, 65536):\n"
            "    with socket.socket() as tried:\n"
            "        tried.settimeout(2)\n"
            f"        if not tried.connect_ex(('{_SERVER}', port)): print(port)\n"
        )
        return {int(port) for port in run(*self.within_here("python3", "-c", code)).split()}
