"""What a run depends on."""

import pytest

from rogue.workloads.history import Change, changes_of


@pytest.mark.parametrize(
    ("path", "is_dependence"),
    [
        ("simulator/cpp/engine/engine.cpp", True),
        ("src/rogue/simulator/cpp/engine/engine.cpp", True),
        ("rogue_agent/core/cc/vegas.py", True),
        ("src/rogue/agent/core/cc/vegas.py", True),
        ("rogue_agent/node/main.py", False),
        ("workloads/sizes.py", True),
        ("harness/cell/cell.py", True),
        ("harness/testbeds/simulator/features.py", True),
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


def test_on_another_testbed_all_testbeds_count() -> None:
    change = Change("c", "s", ("harness/testbeds/kernel/network.py",))
    assert changes_of([change], "a/b", "kernel") == [change]
