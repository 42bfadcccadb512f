"""What every testbed must keep: new ones are picked up by themselves."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.built_kernel import built_testbed
from helpers.experiments import cell_of
from helpers.fake_testbed import FakeTestbed

from rogue.harness.errors import UsageError
from rogue.harness.results.tables import to_arrow
from rogue.harness.testbeds import TESTBEDS, find_testbed, known_testbeds
from rogue.harness.testbeds.base import Testbed
from rogue.workloads.transports import BASES

EVERY: list[Callable[[], Testbed]] = [*TESTBEDS.values(), FakeTestbed]
BUILT: dict[Callable[[], Testbed], Callable[[], Testbed]] = {TESTBEDS["kernel"]: built_testbed}
"""What takes minutes to build is not built for a test."""
RUN_HERE = [
    pytest.param(kind, marks=[pytest.mark.needs("kernel")] if kind in BUILT else []) for kind in EVERY
]


def made(kind: Callable[[], Testbed]) -> Testbed:
    """A testbed that can run cells here."""
    return BUILT.get(kind, kind)()


@pytest.mark.parametrize("kind", EVERY)
def test_it_can_be_sent_to_another_process(kind: Callable[[], Testbed]) -> None:
    assert pickle.loads(pickle.dumps(kind())).name == kind().name


@pytest.mark.parametrize("name", TESTBEDS)
def test_registry_key_is_its_name(name: str) -> None:
    assert find_testbed(name).name == name


@pytest.mark.parametrize("transport", BASES)
@pytest.mark.parametrize("kind", EVERY)
def test_it_says_of_every_transport_whether_it_can(
    kind: Callable[[], Testbed], transport: str, tmp_path: Path
) -> None:
    cell = cell_of(tmp_path, f"transports=[{transport}]")
    reason = kind().unsupported(cell)
    assert reason is None or transport in reason
    if reason is None:
        assert kind().estimate_seconds(cell) > 0


@pytest.mark.parametrize("kind", RUN_HERE)
def test_its_results_follow_the_schema(kind: Callable[[], Testbed], tmp_path: Path) -> None:
    fractions: list[float] = []
    result = made(kind).run(cell_of(tmp_path), fractions.append)
    assert result.failure is None
    assert fractions == sorted(fractions)
    assert 0 < fractions[-1] <= 1
    for name, columns in result.tables.items():
        assert to_arrow(name, columns).num_rows > 0 or name in ("events", "pauses"), name


@pytest.mark.parametrize("kind", RUN_HERE[:-1])
def test_every_measure_is_there_or_has_a_reason(kind: Callable[[], Testbed], tmp_path: Path) -> None:
    """Of a cell that fills an interval of each."""
    result = made(kind).run(cell_of(tmp_path, "workload.repeat_for=10ms"), lambda _fraction: None)
    assert set(result.tables) | set(result.not_measured) >= {
        "flows", "throughput", "latency", "queues", "pauses", "cpu", "rtt",
    }  # fmt: skip
    assert not set(result.tables) & set(result.not_measured)


def test_an_unknown_testbed_is_a_usage_error() -> None:
    names = ", ".join(known_testbeds())
    with pytest.raises(UsageError, match=f"expected {names}, or the file of an inventory"):
        find_testbed("vurtual")


def test_the_nodes_of_an_inventory_are_a_testbed(tmp_path: Path) -> None:
    file = tmp_path / "inventory.yaml"
    file.write_text("all: {}\n")
    assert find_testbed(str(file)).name == str(file)


def test_a_testbed_must_be_whole() -> None:
    class Half(Testbed):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]
