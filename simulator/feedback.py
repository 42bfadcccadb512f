"""What switches tell senders: fair rates in messages of their own, telemetry in the packets."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from rogue.simulator._core import RoccPoint, rocc_parameters
from rogue.simulator.errors import SimulationError
from rogue.simulator.framing import Framing
from rogue.simulator.parameters import ControlParameter

FAIR_RATE_PARAMETERS: Final = tuple(ControlParameter(*each) for each in rocc_parameters())
"""Parameters of RoCC's congestion points; 0 means a value that depends on the rate of the port's link."""

TELEMETRY_BYTES: Final = 42
"""In every packet of data and every acknowledgement, for five hops of 8 bytes and 2 bytes before them.

Source: int-header.h of the repository alibaba-edu/High-Precision-Congestion-Control (9f4be2a).
"""


def with_telemetry(framing: Framing) -> Framing:
    """Return a framing with room for telemetry in every packet of data and every acknowledgement."""
    return replace(
        framing,
        name=f"{framing.name}-telemetry",
        data_overhead_bytes=framing.data_overhead_bytes + TELEMETRY_BYTES,
        ack_frame_bytes=framing.ack_frame_bytes + TELEMETRY_BYTES,
    )


@dataclass(frozen=True, slots=True)
class FairRates:
    """RoCC in all ports of a switch: each queue's fair rate, sent to the flows with packets in it.

    Source: Taheri et al., "RoCC: robust congestion control for RDMA", CoNEXT 2020, section 3.
    """

    parameters: Mapping[str, float] = field(default_factory=dict)

    def check(self, line_rate_bps: int) -> None:
        """Raise SimulationError if a parameter makes no sense at a port of that rate."""
        parameters = {name: float(value) for name, value in self.parameters.items()}
        RoccPoint(line_rate_bps=line_rate_bps, parameters=parameters)

    def arguments(self, where: str) -> dict[str, object]:
        """Return what the engine wants to know; raise SimulationError if it makes no sense."""
        parameters = {name: float(value) for name, value in self.parameters.items()}
        try:
            RoccPoint(line_rate_bps=10**10, parameters=parameters)
        except SimulationError as error:
            raise SimulationError(f"{where}: {error}") from None
        return {"rocc": parameters}
