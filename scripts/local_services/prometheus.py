"""Prometheus and its promtool: the machine's own, else Debian's package unpacked below `var/packages`."""

import shutil
from pathlib import Path

import msgspec

from . import debian_packages
from .processes import ServiceError

_UNPACKED = Path(__file__).resolve().parents[2] / "var" / "packages" / "prometheus"
_HOW = "install it (Debian, as root: apt-get install prometheus)"


class Programs(msgspec.Struct, frozen=True):
    """The two programs."""

    prometheus: Path
    promtool: Path


def programs() -> Programs:
    """The programs on this machine, unpacked first when they are missing. Raises `ServiceError`."""
    installed = shutil.which("prometheus"), shutil.which("promtool")
    if all(installed):
        return Programs(*(Path(str(each)) for each in installed))
    if not debian_packages.available():
        raise ServiceError(f"Prometheus is not on this machine; {_HOW}")
    try:
        root = debian_packages.unpacked(_UNPACKED, ["prometheus"])
    except debian_packages.PackageError as error:
        raise ServiceError(f"Prometheus cannot be downloaded ({error}); {_HOW}") from error
    return Programs(root / "usr/bin/prometheus", root / "usr/bin/promtool")
