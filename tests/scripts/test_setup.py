"""The set-up script on machines that lack its tools: fake programs on PATH, and no network."""

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import files
from pathlib import Path

import pytest
from helpers.networks import ReferenceSimulation

SCRIPT = Path(__file__).parents[2] / "scripts/setup.sh"
IS_DEBIAN = Path("/etc/debian_version").exists()
PACKAGES = "python3 python3-venv python3-dev g++"
APT_GET = """
echo "apt-get $*" >>"$(dirname $0)/../calls"
case "$*" in
*" install "*) [ -z "$BROKEN_MIRROR" ] || { echo "E: Unable to fetch" >&2; exit 100; }
    cp "$(dirname $0)/../later"/* "$(dirname $0)/" ;;
esac
"""


class Machine:
    """Programs of a bare machine, and those that apt-get would bring."""

    def __init__(self, directory: Path, user_id: int = 0, *, has_apt_get: bool = True) -> None:
        self.directory, self.venv = directory, directory / "venv"
        self.programs, later = directory / "bin", directory / "later"
        for folder in (self.programs, later, self.venv / "bin"):
            folder.mkdir(parents=True)
        for name in ("sh", "dirname", "mktemp", "tail", "rm", "cp", "touch"):
            (self.programs / name).symlink_to(str(shutil.which(name)))
        self.write(self.programs / "id", f"echo {user_id}")
        if has_apt_get:
            self.write(self.programs / "apt-get", APT_GET)
        for program in (later / "python3", later / "g++", later / "ssh", self.venv / "bin/python"):
            self.write(program, 'echo "$0 $*" >>"$CALLS"')

    def write(self, program: Path, text: str) -> None:
        program.unlink(missing_ok=True)  # it may be a link to this machine's own
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)

    def set_up(self, step: str = "dependencies", **environment: str) -> subprocess.CompletedProcess[str]:
        base = {"PATH": str(self.programs), "CALLS": str(self.directory / "calls")}
        command = [str(shutil.which("sh")), str(SCRIPT), step, str(self.venv)]
        return subprocess.run(
            command,
            env=base | environment,
            cwd=SCRIPT.parents[1],
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def calls(self) -> str:
        log = self.directory / "calls"
        return log.read_text() if log.exists() else ""


@pytest.mark.skipif(not IS_DEBIAN, reason="only Debian and its relatives get packages installed")
def test_root_on_debian_gets_what_is_missing(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    done = machine.set_up()
    assert done.returncode == 0, done.stderr
    assert f"-qq install --yes --no-install-recommends {PACKAGES} openssh-client\n" in machine.calls
    assert machine.calls.index(" update") < machine.calls.index(" install ")
    assert f"apt-get install --yes --no-install-recommends {PACKAGES} openssh-client" in done.stderr
    assert "-m pip install" in machine.calls, "the set-up continues with the Python packages"
    assert "no OpenSSH client here" not in done.stderr


@pytest.mark.skipif(not IS_DEBIAN, reason="only Debian and its relatives get packages installed")
def test_a_mirror_that_cannot_be_reached_is_told(tmp_path: Path) -> None:
    done = Machine(tmp_path).set_up(BROKEN_MIRROR="1")
    assert done.returncode == 1
    assert "E: Unable to fetch" in done.stderr
    assert f"apt-get could not install {PACKAGES} openssh-client" in done.stderr


@pytest.mark.parametrize(
    ("user_id", "has_apt_get", "environment"),
    [
        pytest.param(1000, True, {}, id="not root"),
        pytest.param(0, False, {}, id="not Debian"),
        pytest.param(0, True, {"ROGUE_NO_INSTALL": "1"}, id="refused"),
        pytest.param(0, True, {"PYTHON": "/nowhere/python3"}, id="a Python of the user's own"),
        pytest.param(0, True, {"CXX": "/nowhere/c++"}, id="a compiler of the user's own"),
    ],
)
def test_everybody_else_is_told(
    tmp_path: Path, user_id: int, has_apt_get: bool, environment: dict[str, str]
) -> None:
    machine = Machine(tmp_path, user_id, has_apt_get=has_apt_get)
    done = machine.set_up(**environment)
    assert done.returncode == 1
    assert f"apt-get install --yes {PACKAGES}" in done.stderr
    assert "apt-get" not in machine.calls
    assert not (tmp_path / "venv/.dependencies").exists()


PIP = """
[ "$3" = install ] || exit 0
for number in 1 2 3 4 5 6 7 8 9 10; do echo "Collecting p$number"; done
echo '  [9/62] Building CXX object'
echo '  [10/62] Building CXX object'
exit $ENDS_WITH
"""


@pytest.mark.parametrize("ends_with", [0, 1])
def test_what_takes_long_says_how_far_it_is(tmp_path: Path, ends_with: int) -> None:
    machine = Machine(tmp_path)
    machine.write(machine.venv / "bin/python", PIP)
    done = machine.set_up(ENDS_WITH=str(ends_with))
    assert done.returncode == ends_with
    assert "setup: 10 packages found\nsetup: step 10/62 of the build\n" in done.stderr
    assert ("  [9/62] Building CXX object" in done.stderr) == (ends_with == 1), "all is shown after a failure"
    assert (machine.venv / "setup.log").read_text().count("Collecting") == 10


@pytest.mark.skipif(not IS_DEBIAN, reason="only Debian and its relatives get packages installed")
@pytest.mark.parametrize(("step", "lock"), [("dependencies", "run.txt"), ("develop", "develop.txt")])
def test_pip_installs_the_packages_of_one_lock_file_and_checks_them(
    tmp_path: Path, step: str, lock: str
) -> None:
    machine = Machine(tmp_path)
    done = machine.set_up(step)
    assert done.returncode == 0, done.stderr
    assert f"--no-deps --no-compile --require-hashes -r requirements/{lock}\n" in machine.calls
    assert "-m pip check" in machine.calls, "pip names a package that the lock file lacks"
    assert (machine.venv / f".{step}").exists()


def test_lock_files_have_the_packages_of_their_purpose_and_name_no_index() -> None:
    project = tomllib.loads((SCRIPT.parents[1] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    run, develop = (
        (SCRIPT.parents[1] / f"requirements/{name}.txt").read_text().lower() for name in ("run", "develop")
    )
    names = {text: set(re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE)) for text in (run, develop)}
    needed = {re.split("[>=]", each)[0].lower() for each in project["dependencies"] + extras["search"]}
    assert needed <= names[run]
    assert {re.split("[>=]", each)[0] for each in extras["dev"]} <= names[develop]
    assert not names[run] & names[develop]
    assert "://" not in run + develop
    assert "index-url" not in run + develop


def test_without_an_ssh_client_the_set_up_goes_on_and_says_so(tmp_path: Path) -> None:
    machine = Machine(tmp_path, user_id=1000)
    for program in (tmp_path / "later").iterdir():
        if program.name != "ssh":
            shutil.copy(program, machine.programs)
    done = machine.set_up()
    assert done.returncode == 0, done.stderr
    assert "no OpenSSH client here (Debian: openssh-client)" in done.stderr
    assert "-m pip install" in machine.calls


@pytest.mark.parametrize(
    ("target", "steps"),
    [
        ("setup", {"dependencies", "engine"}),
        ("run-experiment", {"dependencies", "engine"}),
        ("provision", {"dependencies", "engine"}),
        ("report", {"dependencies", "engine"}),
        ("reproduce", {"dependencies", "engine"}),
        ("lint", {"dependencies", "engine", "develop"}),
        ("test-virtual", {"dependencies", "engine", "develop"}),
        ("test", {"dependencies", "engine", "develop", "reference"}),
        ("coverage", {"dependencies", "engine", "develop", "reference"}),
    ],
)
def test_a_target_sets_up_only_the_parts_that_it_needs(tmp_path: Path, target: str, steps: set[str]) -> None:
    command = ["make", "--dry-run", f"VENV={tmp_path}", target]
    done = subprocess.run(command, cwd=SCRIPT.parents[1], capture_output=True, text=True, check=True)
    assert set(re.findall(r"setup\.sh ([a-z]+) ", done.stdout)) == steps


def test_the_package_does_not_contain_the_reference_engine() -> None:
    names = [file.name for file in files("rogue-testbed") or ()]
    assert any(name.startswith("_core.") for name in names)
    assert not any(name.startswith("_reference.") for name in names)


def test_an_unbuilt_reference_engine_names_the_target_that_builds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rogue.simulator._reference", None)
    monkeypatch.delattr("rogue.simulator._reference", raising=False)
    with pytest.raises(ImportError, match="`make test` builds it"):
        ReferenceSimulation(seed=1)
