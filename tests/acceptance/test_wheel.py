"""The wheel, in a fresh virtual environment, from another directory: no checkout is near.

The engine is taken from the build folder of this checkout, as far as it is up to date there. Dependencies are
borrowed from the environment of the tests, for a test has no network.
"""

import fcntl
import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from helpers.sshd import laboratory

ROOT = Path(__file__).parents[2]
SHORT = ("--set", "repetitions=1", "--set", "workload.repeat_for=5ms")
NODES = """\
hosts:
  vars: {experiment_mtu: 1500, rdma_device_kind: soft_roce, experiment_interface: eth1, ansible_user: nobody}
  hosts:
    h0: {ansible_host: 127.0.0.1, ansible_port: 1, experiment_address: 10.10.1.1}
    h1: {ansible_host: 127.0.0.1, ansible_port: 1, experiment_address: 10.10.1.2}
"""
NODE = """\
hosts:
  hosts:
    h0:
      ansible_host: lab-node
      ansible_ssh_common_args: -F {config}
      known_hosts_file: {known_hosts}
      experiment_address: 127.0.0.1
      experiment_interface: lo
      experiment_mtu: 1500
      rdma_device_kind: soft_roce
"""
SCRIPT = "#!{python}\nimport sys\nfrom {module} import {attr}\nsys.exit({attr}())\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that all processes of the tests share; one of them at a time builds there."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "wheel"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "built").exists():
            _build(shared)
            (shared / "built").touch()
    return shared


def _build(shared: Path) -> None:
    """The wheel, and an environment that has it."""
    pip = (sys.executable, "-m", "pip", "-q")
    how = ("--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(shared))
    subprocess.run([*pip, "wheel", str(ROOT), *how], check=True)
    (wheel,) = shared.glob("rogue_testbed-*.whl")
    venv.create(shared / "venv", with_pip=False)
    python = shared / "venv/bin/python"
    subprocess.run(
        [*pip, "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)], check=True
    )
    (packages,) = (shared / "venv/lib").glob("python3*/site-packages")
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    for point in metadata.distribution("ansible-core").entry_points:
        script = shared / "venv/bin" / point.name
        script.write_text(SCRIPT.format(python=python, module=point.module, attr=point.attr))
        script.chmod(0o755)


@pytest.fixture(scope="module")
def wheel(place: Path) -> Path:
    (built,) = place.glob("rogue_testbed-*.whl")
    return built


@pytest.fixture(scope="module")
def programs(place: Path) -> Path:
    """`bin` of the environment that has the wheel."""
    return place / "venv/bin"


def rogue(
    programs: Path, directory: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run it as a person without a checkout does, whose home is the directory."""
    environment = {"PATH": f"{programs}:{os.defpath}", "HOME": str(directory), "LC_ALL": "C.UTF-8"}
    environment |= variables
    return subprocess.run(
        [programs / "rogue", *arguments],
        cwd=directory, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_it_has_what_is_needed_and_no_source_of_the_engine(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "rogue/experiments/quickstart.yaml" in names
    assert "rogue/playbooks/provision.yml" in names
    assert "rogue/harness/plugins/starts/control.txt" in names
    assert "rogue/harness/provisioning/switches/platforms/eos/configuration.j2" in names
    source = [name for name in names if name.endswith((".cpp", ".h", ".pyc", "CMakeLists.txt"))]
    interface = [
        f"rogue/simulator/include/rogue/{name}.h"
        for name in ("nic_control", "plugin", "receiver_control", "switch_control")
    ]
    assert sorted(source) == interface, "what plug-ins in C++ include"
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"rogue"}


def test_from_a_run_to_a_report(programs: Path, tmp_path: Path) -> None:
    done = rogue(programs, tmp_path, "run", "quickstart", *SHORT, "--set", "transports=[rogue, dctcp]")
    assert done.returncode == 0, done.stderr
    run = done.stdout.splitlines()[-1]
    assert run.startswith("results/quickstart/")
    reported = rogue(programs, tmp_path, "report", run)
    assert (reported.returncode, reported.stdout) == (0, f"{run}/report.html\n"), reported.stderr
    load = f"import rogue; print(sorted(rogue.load({run!r}).cells.status))"
    for name in ("harness", "reports", "workloads"):  # as our folders are called, and a person's files may be
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of mine')\n")
    loaded = subprocess.run(
        [programs / "python", "-c", load], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert loaded.stdout == "['ok', 'ok']\n"
    head = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    commit = json.loads((tmp_path / run / "manifest.json").read_text())["git"]["commit"]
    assert commit == (head.stdout.strip() or None), "it was stamped when the wheel was built"


def test_lists_and_a_plugin(programs: Path, tmp_path: Path) -> None:
    assert "rogue-paper/incast" in rogue(programs, tmp_path, "list", "experiments").stdout
    assert rogue(programs, tmp_path, "new", "control", "mine").returncode == 0
    listed = rogue(programs, tmp_path, "list", "controls", "--plugin", "mine.py")
    assert "(plug-in mine.py)" in listed.stdout, listed.stderr
    shipped = rogue(programs, tmp_path, "list", "formats")
    assert "\nhtsim-topo " in shipped.stdout, shipped.stderr


def test_provisioning_finds_its_playbooks(programs: Path, tmp_path: Path) -> None:
    """An unknown node is named; the playbooks themselves are read whole."""
    (tmp_path / "nodes.yaml").write_text(NODES)
    (tmp_path / ".ssh").mkdir(mode=0o700)
    done = rogue(programs, tmp_path, "provision", "nodes.yaml", "--check")
    assert done.returncode == 7, done.stderr
    assert "h0" in done.stderr
    assert "no host key of" in done.stderr
    (shipped,) = programs.parent.glob("lib/python3*/site-packages/rogue/playbooks")
    check = [programs / "ansible-playbook", "--syntax-check", "-i", str(tmp_path / "nodes.yaml")]
    environment = {"PATH": os.defpath, "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    environment["ANSIBLE_CONFIG"] = str(shipped / "ansible.cfg")
    playbooks = [shipped / f"{name}.yml" for name in ("provision", "preflight", "switch", "teardown")]
    subprocess.run([*check, *playbooks], env=environment, check=True, cwd=tmp_path)


@pytest.mark.needs("sshd", "ip")
@pytest.mark.skipif(os.geteuid() != 0, reason="provisioning needs root, or sudo without a password")
def test_a_check_plays_every_role_on_a_node(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node is this computer, behind a jump host; in check mode nothing of it is changed."""
    (tmp_path / ".ssh").mkdir(mode=0o700)
    with laboratory(tmp_path / ".ssh", monkeypatch) as there:
        text = NODE.format(config=there.config, known_hosts=there.known_hosts)
        (tmp_path / "nodes.yaml").write_text(text)
        agent = {"SSH_AUTH_SOCK": os.environ["SSH_AUTH_SOCK"]}
        done = rogue(programs, tmp_path, "provision", "nodes.yaml", "--check", **agent)
    assert done.returncode == 0, done.stderr
    assert "/opt/rogue" in done.stdout + done.stderr
