"""Find, install and run the host programs that machines need."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rogue.virtual.errors import PrerequisiteError, VirtualTestbedError

_WORDS_KEPT_LINES = 15
# If the parent died before the signal was requested, $PPID differs: do not start then.
_DIE_WITH_OWNER = ("setpriv", "--pdeathsig", "KILL", "sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"')


def dying_with_owner(command: Sequence[str]) -> list[str]:
    """Return a command that starts a program which never outlives this process."""
    return [*_DIE_WITH_OWNER, str(os.getpid()), *command]


def run(
    command: Sequence[str],
    *,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    stdin: Path | None = None,
    stdout: Path | None = None,
) -> str:
    """Run ``command`` and return its output; with ``stdout`` the output goes to that file.

    Raises VirtualTestbedError with the last lines of its standard error if it fails or takes too long.
    """
    source = stdin.open("rb") if stdin else None
    target = stdout.open("wb") if stdout else None
    try:
        done = subprocess.run(
            command,
            stdin=source or subprocess.DEVNULL,
            stdout=target or subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            timeout=timeout_s,
            check=False,
        )
    except FileNotFoundError:
        raise VirtualTestbedError(f"the program {command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise VirtualTestbedError(f"{command[0]} did not finish within {timeout_s:.0f} s") from None
    finally:
        for stream in (source, target):
            if stream:
                stream.close()
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip().splitlines()[-_WORDS_KEPT_LINES:]
        raise VirtualTestbedError(
            "\n  ".join([f"{command[0]} failed (exit code {done.returncode}):", *words])
        )
    return (done.stdout or b"").decode(errors="replace")


PACKAGE_OF_PROGRAM_WITHOUT_ROOT: Final = {"newuidmap": "uidmap"}
_SYSTEM_DIRECTORIES: Final = "/usr/sbin:/sbin"
_INSTALL_TIMEOUT_S: Final = 1200.0


@dataclass(frozen=True, slots=True)
class Needs:
    """Programs of the host that a feature needs."""

    whose: str
    """Subject of a sentence: `virtual machines need ...`."""
    package_of_program: Mapping[str, str]


MACHINES: Final = Needs(
    "virtual machines need",
    {
        "mkfs.ext4": "e2fsprogs",
        "mmdebstrap": "mmdebstrap",
        "qemu-system-x86_64": "qemu-system-x86",
        "setpriv": "util-linux",
    },
)
KERNEL: Final = Needs(
    "building the kernel needs",
    {
        "bc": "bc",
        "bison": "bison",
        "flex": "flex",
        "gcc": "gcc",
        "make": "make",
        "mmdebstrap": "mmdebstrap",
        "setpriv": "util-linux",
        "xz": "xz-utils",
    },
)


def missing_packages(needs: Needs, *, is_root: bool, find: Callable[[str], str | None]) -> list[str]:
    """Name the Debian packages whose programs ``find`` does not find."""
    needed = {**needs.package_of_program, **({} if is_root else PACKAGE_OF_PROGRAM_WITHOUT_ROOT)}
    return sorted({package for program, package in needed.items() if find(program) is None})


def find_program(program: str) -> str | None:
    """Find a program on root's path: file system tools are not in every user's."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:{_SYSTEM_DIRECTORIES}")


def install_command(packages: list[str]) -> list[str]:
    """Return the command that installs packages, without recommended ones."""
    return ["apt-get", "install", "--yes", "--no-install-recommends", *packages]


def require(needs: Needs) -> None:
    """Raise PrerequisiteError with the command to type if a program is missing."""
    packages = missing_packages(needs, is_root=os.geteuid() == 0, find=find_program)
    if packages:
        raise PrerequisiteError(_sentence(needs, packages))


def ensure(needs: Needs, progress: Callable[[str], None]) -> None:
    """Install what is missing if this is root on a Debian machine; otherwise raise as `require` does."""
    packages = missing_packages(needs, is_root=os.geteuid() == 0, find=find_program)
    if not packages:
        return
    if os.geteuid() != 0 or find_program("apt-get") is None:
        raise PrerequisiteError(_sentence(needs, packages))
    command = install_command(packages)
    progress(f"host: {' '.join(command)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "-qq", "update"], timeout_s=_INSTALL_TIMEOUT_S, environment=environment)
    run(command, timeout_s=_INSTALL_TIMEOUT_S, environment=environment)
    require(needs)


def _sentence(needs: Needs, packages: list[str]) -> str:
    command = " ".join(install_command(packages))
    return f"{needs.whose} programs that are not installed; run: sudo {command}"
