"""The host's programs that virtual machines need: what is missing, and how it gets there."""

import os
import shutil
from collections.abc import Callable

from virtual.errors import PrerequisiteError
from virtual.programs import run

PACKAGE_OF_PROGRAM = {
    "mkfs.ext4": "e2fsprogs",
    "mmdebstrap": "mmdebstrap",
    "qemu-system-x86_64": "qemu-system-x86",
    "setpriv": "util-linux",
}
PACKAGE_OF_PROGRAM_WITHOUT_ROOT = {"newuidmap": "uidmap"}
_SYSTEM_DIRECTORIES = "/usr/sbin:/sbin"
_INSTALL_TIMEOUT_S = 1200.0


def missing_packages(*, is_root: bool, find: Callable[[str], str | None]) -> list[str]:
    """Name the Debian packages whose programs ``find`` does not find."""
    needed = PACKAGE_OF_PROGRAM if is_root else PACKAGE_OF_PROGRAM | PACKAGE_OF_PROGRAM_WITHOUT_ROOT
    return sorted({package for program, package in needed.items() if find(program) is None})


def find_program(program: str) -> str | None:
    """Look where root looks: file system tools are not in every user's path."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:{_SYSTEM_DIRECTORIES}")


def install_command(packages: list[str]) -> list[str]:
    """The command that installs them, without what apt merely recommends."""
    return ["apt-get", "install", "--yes", "--no-install-recommends", *packages]


def require() -> None:
    """Raise PrerequisiteError with the command to type if a program is missing."""
    packages = missing_packages(is_root=os.geteuid() == 0, find=find_program)
    if packages:
        raise PrerequisiteError(_sentence(packages))


def ensure(progress: Callable[[str], None]) -> None:
    """Install what is missing if this is root on a Debian machine; otherwise raise as `require` does."""
    packages = missing_packages(is_root=os.geteuid() == 0, find=find_program)
    if not packages:
        return
    if os.geteuid() != 0 or find_program("apt-get") is None:
        raise PrerequisiteError(_sentence(packages))
    command = install_command(packages)
    progress(f"host: {' '.join(command)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "-qq", "update"], timeout_s=_INSTALL_TIMEOUT_S, environment=environment)
    run(command, timeout_s=_INSTALL_TIMEOUT_S, environment=environment)
    require()


def _sentence(packages: list[str]) -> str:
    command = " ".join(install_command(packages))
    return f"virtual machines need programs that are not installed; run: sudo {command}"
