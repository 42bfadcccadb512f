"""Above which queue switches mark packets for a TCP that reacts to marks."""

from typing import Final

from rogue.harness.cell.carrier import Carrier
from rogue.harness.cell.mistakes import ParameterError, ParameterMistake
from rogue.harness.cell.parameters import as_written, translated
from rogue.harness.experiment.choices import Scalar
from rogue.workloads.topologies import Topology

MARK_ABOVE: Final = "mark_above_bytes"
FRAME_BYTES: Final = 1518
MARKED_FRAMES: Final = 65
MARKED_FRAMES_RATE_BPS: Final = 10_000_000_000
MARKED_FRAMES_MIN: Final = 20
"""K: 20 frames at 1 Gb/s, 65 at 10 Gb/s, then in proportion. Source: Alizadeh et al., SIGCOMM 2010, §3.4."""
THRESHOLD_BYTES_MAX: Final = 10**12
"""More than any switch has."""


def marked_above_bytes(topology: Topology, carrier: Carrier) -> int:
    """K, as a transport asks for it: by its parameter, or in proportion to the hosts' line rate.

    ParameterError if the parameter is not a number of bytes.
    """
    if as_written(MARK_ABOVE) in carrier.parameters:
        value = carrier.parameters[as_written(MARK_ABOVE)]
        return checked_threshold(translated(as_written(MARK_ABOVE), value, (MARK_ABOVE,))[1])
    rate_bps = max(topology.host_rate_bps(host) for host in topology.host_names())
    return FRAME_BYTES * max(MARKED_FRAMES_MIN, round(MARKED_FRAMES * rate_bps / MARKED_FRAMES_RATE_BPS))


def checked_threshold(value: Scalar) -> int:
    """Bytes above which packets are marked; ParameterError if there can be no such queue."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterError(ParameterMistake(as_written(MARK_ABOVE), "a number", "correct the value"))
    if not 0 <= value <= THRESHOLD_BYTES_MAX:
        expected = f"from 0 to {THRESHOLD_BYTES_MAX} bytes"
        raise ParameterError(ParameterMistake(as_written(MARK_ABOVE), expected, "correct the value"))
    return int(value)
