"""What a run depends on."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from rogue.workloads.history import Change, changes_of
from rogue.workloads.shipped import CHECKOUT

NUMBERLESS = (
    *("harness/__init__.py", "harness/errors.py", "harness/exit_codes.py", "harness/testbeds/__init__.py"),
    *("harness/plugins/", "harness/provisioning/", "rogue_agent/__init__.py", "src/rogue/"),
)
"""Sentences, names and doors: plug-ins are compared by their own text."""


@pytest.mark.parametrize(
    ("path", "is_dependence"),
    [
        ("simulator/cpp/engine/engine.cpp", True),
        ("src/rogue/simulator/cpp/engine/engine.cpp", True),
        ("rogue_agent/core/cc/vegas.py", True),
        ("src/rogue/agent/core/cc/vegas.py", True),
        ("rogue_agent/drivers/simulated_nic.py", True),
        ("rogue_agent/node/main.py", False),
        ("workloads/sizes.py", True),
        ("harness/cell/cell.py", True),
        ("harness/testbeds/simulator/features.py", True),
        ("harness/testbeds/rows.py", True),
        ("harness/testbeds/kernel/network.py", False),
        ("reports/metrics/goodput.py", True),
        ("reports/pages/page.py", False),
        ("experiments/a/b.yaml", True),
        ("experiments/a/c.yaml", False),
        ("simulator/README.md", False),
        ("docs/DEVIATIONS.md", False),
    ],
)
def test_what_an_experiment_on_the_simulator_depends_on(path: str, is_dependence: bool) -> None:
    change = Change("c", "s", ("docs/x.md", path))
    assert changes_of([change], "a/b", "simulator") == ([change] if is_dependence else [])


def test_measures_can_be_left_out() -> None:
    measures = Change("m", "s", ("reports/cells/view.py", "reports/metrics/delay.py"))
    both = Change("b", "s", ("reports/metrics/delay.py", "workloads/units.py"))
    assert changes_of([measures, both], "a/b", "simulator", with_measures=False) == [both]


@pytest.mark.parametrize("path", ["harness/testbeds/kernel/network.py", "rogue_agent/node/main.py"])
def test_on_another_testbed_all_testbeds_and_the_nodes_count(path: str) -> None:
    change = Change("c", "s", (path,))
    assert changes_of([change], "a/b", "kernel") == [change]


def test_all_that_the_simulators_testbed_imports_is_a_dependence_or_known_to_change_no_number() -> None:
    script = "import sys, rogue.harness.testbeds.simulator.testbed as _; print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    files = [import_module(name).__file__ or "" for name in done.stdout.split() if name.startswith("rogue.")]
    paths = [Path(file).resolve().relative_to(CHECKOUT).as_posix() for file in files if file.endswith(".py")]
    others = [path for path in paths if not changes_of([Change("c", "s", (path,))], "a/b", "simulator")]
    assert {path for path in others if not path.startswith(NUMBERLESS)} == set()
