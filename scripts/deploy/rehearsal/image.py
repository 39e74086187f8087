"""`nox -s image`: the steps of the Containerfile, on an empty Debian root, by buildah; no registry is needed.

The image is made in a store of its own, which is removed again.
"""

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from app.kit.version import VERSION

from .base_system import bootstrap
from .networks import run
from .page import ROOT

_BASE = "localhost/debian-base"
_AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
#: Where the authorities that this machine trusts are for the time of the build; the image has its own.
_MOUNTED = "/run/authorities.pem"


def main() -> None:
    missing = [tool for tool in ("buildah", "debootstrap") if shutil.which(tool) is None]
    if missing or os.geteuid():
        raise SystemExit(
            f"image: needs root, buildah and debootstrap; missing: {', '.join(missing) or 'root'}"
        )
    (ROOT / "var").mkdir(exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix="image-", dir=ROOT / "var"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        bootstrap(directory / "base", directory / "debootstrap.log", "minbase")
        began = time.monotonic()
        _build(directory)
        print(f"the image is built: {(time.monotonic() - began) / 60:.1f} minutes")
        _check(directory)


def _buildah(directory: Path, *arguments: str | Path) -> str:
    store = ("--root", directory / "store", "--runroot", directory / "run", "--storage-driver", "vfs")
    return run("buildah", *store, *arguments).strip()


def _build(directory: Path) -> None:
    container = _buildah(directory, "from", "scratch")
    _buildah(directory, "add", "--quiet", container, directory / "base", "/")
    _buildah(directory, "commit", "--quiet", container, _BASE)
    pip = directory / "pip.conf"
    pip.write_text(f"[global]\ncert = {_MOUNTED}\n")
    _buildah(
        directory,
        *("build", "--isolation", "chroot", "--pull-never", "--build-arg", f"BASE={_BASE}"),
        *("--volume", f"{_AUTHORITIES}:{_MOUNTED}:ro", "--volume", f"{pip}:/etc/pip.conf:ro"),
        *("--tag", "matchfeed", "--file", ROOT / "scripts/deploy/Containerfile", ROOT),
    )


def _check(directory: Path) -> None:
    """The image's command line runs, as an ordinary user, and refuses to serve without its settings."""
    container = _buildah(directory, "from", "localhost/matchfeed")
    inside = ("run", "--isolation", "chroot", container, "--")
    program = "/opt/matchfeed/current/bin/matchfeed"
    assert _buildah(directory, *inside, program, "--version") == f"matchfeed, version {VERSION}"
    assert _buildah(directory, *inside, "id", "--user", "--name") == "matchfeed"
    production = ("env", "DEPLOYMENT=production", program, "serve")
    try:
        _buildah(directory, *inside, *production)
    except subprocess.CalledProcessError:
        print("it runs as matchfeed, and refuses production without SECRET_KEY")
    else:
        raise SystemExit("image: it serves in production without SECRET_KEY")


if __name__ == "__main__":
    main()
