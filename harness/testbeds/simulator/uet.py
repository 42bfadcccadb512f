"""The Ultra Ethernet transport: what of its parameters follows from the network, and words among them."""

from collections.abc import Mapping
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.transport import ParameterError, ParameterMistake
from rogue.harness.experiment.choices import Scalar
from rogue.harness.testbeds.simulator.features import framing
from rogue.harness.testbeds.simulator.round_trip import RoundTrip

NAMES: Final = ("uet", "uet-rccc")
LOAD_BALANCING: Final = "load_balancing"
BALANCERS: Final = ("oblivious", "bitmap", "reps", "mixed")
"""By the numbers of the engine's parameter. Source: uet-htsim, uec_mp.cpp."""
OF_REPS: Final = ("freeze", "explored_paths")
"""What only REPS has."""
OF_SMARTT: Final = ("fair_gain", "delay_gain")
"""What only SMaRTT's window has."""
WINDOWS: Final = ("mprdma", "smartt")
"""Those that stand in NSCC's place."""
TARGET_OF_ROUND_TRIP: Final = 0.75
"""With trimming; without it windows aim at a whole round trip. Source: uet-htsim, `initNsccParams`."""
TIMEOUT_NS: Final = 15_000
TIMEOUT_QUEUES: Final = 6
"""With trimming: 15 us and as long as six full queues take. Source: uet-htsim, datacenter/main_uec.cpp."""


def with_numbers(parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The parameters, with the engine's number for the way to choose paths; ParameterError for mistakes."""
    _check_together(parameters)
    if LOAD_BALANCING not in parameters:
        return dict(parameters)
    asked = parameters[LOAD_BALANCING]
    if asked not in BALANCERS:
        expected = f"one of {', '.join(BALANCERS)}"
        raise ParameterError(ParameterMistake(LOAD_BALANCING, expected, "choose one of them"))
    return {**parameters, LOAD_BALANCING: BALANCERS.index(str(asked))}


def _check_together(parameters: Mapping[str, Scalar]) -> None:
    """ParameterError for what would do nothing beside the rest."""
    for key in OF_REPS:
        if key in parameters and parameters.get(LOAD_BALANCING) != "reps":
            expected = f"{LOAD_BALANCING}: reps beside it"
            raise ParameterError(ParameterMistake(key, expected, f"state that, or leave {key} out"))
    for key in OF_SMARTT:
        if key in parameters and not parameters.get("smartt"):
            raise ParameterError(
                ParameterMistake(key, "smartt: 1 beside it", f"state that, or leave {key} out")
            )
    windows = [key for key in WINDOWS if parameters.get(key)]
    if windows and parameters.get("nscc") == 0:
        expected = f"1 beside {windows[0]}, which stands in NSCC's place"
        raise ParameterError(ParameterMistake("nscc", expected, "leave one of them out"))
    if len(windows) > 1:
        expected = "0 beside mprdma: a sender has one window"
        raise ParameterError(ParameterMistake("smartt", expected, "leave one of them out"))


def fitted_to_network(cell: Cell, way: RoundTrip, long_timeout_ns: float) -> dict[str, float]:
    """What nobody need state. Without trimming the timeout is the long one of other transports."""
    topology, round_trip_ns = cell.topology, float(way.round_trip_ns)
    rate_bps = topology.host_rate_max_bps
    queue_bytes = topology.trim_above_bytes
    target, timeout_ns = 1.0, long_timeout_ns
    if queue_bytes is not None:
        target = TARGET_OF_ROUND_TRIP
        timeout_ns = float(TIMEOUT_NS + -(-TIMEOUT_QUEUES * queue_bytes * 8 * 10**9 // rate_bps))
    return {
        "base_rtt_ns": round_trip_ns,
        "line_rate_bps": float(rate_bps),
        "header_bytes": float(framing(cell).data_overhead_bytes),
        "target_delay_ns": float(int(round_trip_ns * target)),
        "rto_ns": max(timeout_ns, round_trip_ns),
    }
