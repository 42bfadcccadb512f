"""Compare RoGUE over real verbs with fixed windows and native RoCE through the same port.

Medians of five repetitions, which all transports take in turn; the processors are emulated, so that a busy
computer makes every goodput smaller. The whole distribution is printed.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest
from helpers.real_rogue import call

from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.virtual.image.build import Image
from rogue.virtual.machines.assembly import Accelerator

pytestmark = [pytest.mark.virtual, pytest.mark.long]

EXPERIMENT = "virtual-fixed_windows"
NAME = "bounds"
INVENTORY = f"virtual:{NAME}"
REPETITIONS = 5
GOODPUT_SHARE_MIN = 0.85
JAIN_MIN = 0.95
DROPS_SHARE_MAX = 0.1
METRICS = ("aggregate_bps", "jain", "drops_packets", "probe_p50_ns", "probe_p90_ns")
Values = dict[str, dict[str, list[float]]]


@pytest.fixture(scope="module")
def values(
    state_home: Path, image: Image, accelerator: Accelerator, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Values]:
    """Return every metric of every repetition, by transport."""
    call("testbed", "up", f"experiments/{EXPERIMENT}.yaml", "--name", NAME)
    call("provision", INVENTORY)
    out = str(tmp_path_factory.mktemp("results"))
    printed = call("run", EXPERIMENT, "--testbed", INVENTORY, "--out", out)
    yield values_of(Path(printed.splitlines()[-1]))
    call("testbed", "down", "--name", NAME)


def values_of(run: Path) -> Values:
    """Read a run, and print its metrics."""
    results = Results(Run(run))
    found = {
        setting.transport: {metric: results.per_run(setting, metric) for metric in METRICS}
        for setting in results.measured_settings
    }
    for transport, metrics in found.items():
        for metric, numbers in metrics.items():
            sys.stderr.write(f"{transport:14} {metric:14} {median(numbers):14.4g}  of {sorted(numbers)}\n")
    return found


def middle(values: Values, transport: str, metric: str) -> float:
    """Return the median of the repetitions; none may be missing."""
    numbers = values[transport][metric]
    assert len(numbers) == REPETITIONS
    return median(numbers)


def test_rogue_carries_nearly_as_much_as_the_best_fixed_window(values: Values) -> None:
    fixed = [middle(values, name, "aggregate_bps") for name in values if name.startswith("fixed-")]
    assert len(fixed) == 4
    assert middle(values, "rogue", "aggregate_bps") >= GOODPUT_SHARE_MIN * max(fixed)


def test_rogue_shares_evenly(values: Values) -> None:
    assert middle(values, "rogue", "jain") >= JAIN_MIN


def test_rogue_drops_a_tenth_of_what_native_roce_drops(values: Values) -> None:
    native = middle(values, "roce", "drops_packets")
    assert native > 0, "native RoCE overruns the port"
    assert middle(values, "rogue", "drops_packets") <= DROPS_SHARE_MAX * native


def test_rogue_keeps_the_probe_below_a_window_that_carries_as_much(values: Values) -> None:
    """Not below native RoCE's median, whose port is idle most of the time: docs/explanation/testbeds.md."""
    assert middle(values, "rogue", "probe_p50_ns") < middle(values, "fixed-128KiB", "probe_p50_ns")


def test_rogue_keeps_the_probe_below_native_roces_where_the_port_is_busy(values: Values) -> None:
    """Compare 90th percentiles: native RoCE's median can be from times when its senders wait for timers."""
    assert middle(values, "rogue", "probe_p90_ns") < middle(values, "roce", "probe_p90_ns")
