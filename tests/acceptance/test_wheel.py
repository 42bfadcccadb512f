"""The wheel, in a fresh virtual environment, from another directory: no checkout is near.

The engine is taken from the build folder of this checkout, as far as it is up to date there. Dependencies are
borrowed from the environment of the tests, for a test has no network.
"""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
SHORT = ("--set", "repetitions=1", "--set", "workload.repeat_for=5ms")
NODES = """\
hosts:
  vars: {experiment_mtu: 1500, rdma_device_kind: soft_roce, experiment_interface: eth1, ansible_user: nobody}
  hosts:
    h0: {ansible_host: 127.0.0.1, ansible_port: 1, experiment_address: 10.10.1.1}
    h1: {ansible_host: 127.0.0.1, ansible_port: 1, experiment_address: 10.10.1.2}
"""
SCRIPT = "#!{python}\nimport sys\nfrom {module} import {attr}\nsys.exit({attr}())\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "-q")
    how = ("--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(folder))
    subprocess.run([*pip, "wheel", str(ROOT), *how], check=True)
    (built,) = folder.glob("rogue_testbed-*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`bin` of an environment that has the wheel."""
    home = tmp_path_factory.mktemp("fresh") / "venv"
    venv.create(home, with_pip=False)
    python = home / "bin/python"
    pip = (sys.executable, "-m", "pip", "-q", "--python", str(python))
    subprocess.run([*pip, "install", "--no-deps", "--no-index", str(wheel)], check=True)
    (packages,) = (home / "lib").glob("python3*/site-packages")
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    for point in metadata.distribution("ansible-core").entry_points:
        script = home / "bin" / point.name
        script.write_text(SCRIPT.format(python=python, module=point.module, attr=point.attr))
        script.chmod(0o755)
    return home / "bin"


def rogue(programs: Path, directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it as a person without a checkout does, whose home is the directory."""
    environment = {"PATH": f"{programs}:{os.defpath}", "HOME": str(directory), "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        [programs / "rogue", *arguments],
        cwd=directory, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_it_has_what_is_needed_and_no_source_of_the_engine(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "rogue_shipped/experiments/quickstart.yaml" in names
    assert "rogue_shipped/playbooks/provision.yml" in names
    assert "harness/plugins/starts/control.txt" in names
    assert not [name for name in names if name.endswith((".cpp", ".h", ".pyc", "CMakeLists.txt"))]
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {
        "workloads", "rogue_agent", "simulator", "harness", "reports", "virtual", "remote", "rogue_shipped",
    }  # fmt: skip


def test_from_a_plan_to_a_report(programs: Path, tmp_path: Path) -> None:
    planned = rogue(programs, tmp_path, "plan", "quickstart", *SHORT)
    assert planned.returncode == 0, planned.stderr
    assert "star: 10 hosts" in planned.stdout
    done = rogue(programs, tmp_path, "run", "quickstart", *SHORT, "--set", "transports=[rogue, dctcp]")
    assert done.returncode == 0, done.stderr
    run = done.stdout.splitlines()[-1]
    assert run.startswith("results/quickstart/")
    reported = rogue(programs, tmp_path, "report", run)
    assert (reported.returncode, reported.stdout) == (0, f"{run}/report.html\n"), reported.stderr
    assert rogue(programs, tmp_path, "verify", run).returncode == 0
    assert run in rogue(programs, tmp_path, "list", "runs").stdout


def test_lists_and_a_plugin(programs: Path, tmp_path: Path) -> None:
    assert "rogue-paper/incast" in rogue(programs, tmp_path, "list", "experiments").stdout
    assert rogue(programs, tmp_path, "new", "control", "mine").returncode == 0
    listed = rogue(programs, tmp_path, "list", "controls", "--plugin", "mine.py")
    assert "(plug-in mine.py)" in listed.stdout, listed.stderr


def test_provisioning_finds_its_playbooks(programs: Path, tmp_path: Path) -> None:
    """A node that nobody knows is said by name; the playbooks themselves are read whole."""
    (tmp_path / "nodes.yaml").write_text(NODES)
    (tmp_path / ".ssh").mkdir(mode=0o700)
    done = rogue(programs, tmp_path, "provision", "nodes.yaml", "--check")
    assert done.returncode == 7, done.stderr
    assert "h0" in done.stderr
    assert "no host key of" in done.stderr
    (shipped,) = programs.parent.glob("lib/python3*/site-packages/rogue_shipped/playbooks")
    check = [programs / "ansible-playbook", "--syntax-check", "-i", str(tmp_path / "nodes.yaml")]
    environment = {"PATH": os.defpath, "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    environment["ANSIBLE_CONFIG"] = str(shipped / "ansible.cfg")
    for playbook in ("provision.yml", "preflight.yml", "switch.yml", "teardown.yml"):
        subprocess.run([*check, str(shipped / playbook)], env=environment, check=True, cwd=tmp_path)
