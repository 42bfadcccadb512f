"""The script that makes a bare Debian, on a machine of stand-ins: nothing is made, mounted or entered."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REAL = """
cat cp cut date dirname env git grep install mkdir mktemp printenv rm sh sleep tr
"""
MIRROR = "http://mirror.example/debian"
NAMESPACES = """
while [ "${1#--}" != "$1" ]; do shift; done
exec "$@"
"""
MMDEBSTRAP = """
for word; do
    case $word in */debian) mkdir -p "$word/root" ;; esac
done
cat "$word" >"$0.sources"
"""
CHROOT = """
debian=$1
shift
printf '%s\\n' "$*" >>"$0.log"
git -C "$debian/root/rogue" rev-parse HEAD >"$0.commit"
case "$*" in
*"; false") exit 3 ;;
*"; stop") # the script itself, which waits for who waits for this
    kill -TERM "$(cut -d' ' -f4 /proc/$PPID/stat)"
    while [ -e "$debian" ]; do :; done ;;
esac
"""


class Machine:
    """What the script finds on its PATH, and a checkout that has nothing but it."""

    def __init__(self, directory: Path, user_id: int = 0) -> None:
        self.directory, self.programs = directory, directory / "bin"
        for name in ("bin", "home", "tmp"):
            (directory / name).mkdir()
        for name in REAL.split():
            (self.programs / name).symlink_to(str(shutil.which(name)))
        self.write("id", f"echo {user_id}")
        self.write("mmdebstrap", MMDEBSTRAP)
        self.write("python3", f'PYTHONPATH={ROOT} exec {sys.executable} "$@"')
        self.write("unshare", NAMESPACES)
        self.write("chroot", CHROOT)
        self.write("apt-get", f"echo 'Debian|bookworm|{MIRROR}|bookworm|main'")
        for name in ("apt-config", "mount"):
            self.write(name, "")

        self.script = directory / "checkout/scripts/bare_debian.sh"
        self.script.parent.mkdir(parents=True)
        shutil.copy(ROOT / "scripts/bare_debian.sh", self.script)
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git(
            "-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "--quiet", "-m", "all of it"
        )

    def git(self, *words: str) -> str:
        command = ["git", "-C", str(self.directory / "checkout"), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def write(self, name: str, text: str) -> None:
        program = self.programs / name
        program.unlink(missing_ok=True)  # it may be a link to this machine's own
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)

    def run(self, *commands: str, **environment: str) -> subprocess.CompletedProcess[str]:
        base = {"PATH": str(self.programs), "HOME": str(self.directory / "home")}
        base["TMPDIR"] = str(self.directory / "tmp")
        return subprocess.run(
            ["sh", str(self.script), *commands],
            env=base | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def started(self) -> list[str]:
        """The command lines of the bare Debian, without that for certificates."""
        return (self.programs / "chroot.log").read_text().splitlines()[1:]

    @property
    def left(self) -> list[Path]:
        return list((self.directory / "tmp").iterdir())


def test_without_commands_it_is_what_the_readme_begins_with(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    done = machine.run()
    assert done.returncode == 0, done.stderr
    told = [line.rpartition("; ")[2] for line in machine.started]
    assert told == ["make run-experiment", "make test"]
    assert f"{MIRROR} bookworm main" in (machine.programs / "mmdebstrap.sources").read_text()
    assert (machine.programs / "chroot.commit").read_text() == machine.git("rev-parse", "HEAD")
    assert machine.left == []


def test_it_knows_the_ways_to_packages_and_nothing_else_of_this_machine(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    known = {"PIP_INDEX_URL": "https://mirror.example/simple ", "https_proxy": "http://proxy.example:3128"}
    machine.run("true", REQUIRE="chromium", PYTHONPATH="/home/me", PIP_CACHE_DIR="/home/me/cache", **known)
    (line,) = machine.started
    assert all(f"{name}={value}" in line for name, value in known.items())
    assert not {"REQUIRE", "PYTHONPATH", "/home/me"} & set(line.replace("=", " ").split())


@pytest.mark.parametrize(("command", "code"), [("false", 3), ("stop", 143)])
def test_a_failure_or_a_signal_ends_it_and_nothing_is_left(tmp_path: Path, command: str, code: int) -> None:
    machine = Machine(tmp_path)
    done = machine.run(command, "never")
    assert (done.returncode, machine.left) == (code, []), done.stderr
    assert len(machine.started) == 1


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    (machine.programs / "mmdebstrap").unlink()
    done = machine.run()
    assert done.returncode == 1
    assert "no mmdebstrap here; on Debian, as root:  apt-get install --yes git mmdebstrap" in done.stderr


def test_everybody_but_root_is_told(tmp_path: Path) -> None:
    done = Machine(tmp_path, user_id=1000).run()
    assert (done.returncode, "it needs root" in done.stderr) == (1, True)
