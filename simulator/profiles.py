"""NIC profiles: limiters, clock and quirks of a card. Every result names its profile and revision."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class NicProfile:
    """The properties of a network card that the simulated NIC has.

    ``limiters`` counts the rate limiters of a card that has them per priority: queue pair n of a host uses
    limiter ``n mod limiters``. With ``per_qp`` each queue pair has its own, and ``limiters`` is 0. Requested
    rates are rounded up to a multiple of ``rate_step_bps`` (0 = exact). A new rate acts after a number of
    further wire bytes of that limiter, drawn uniformly from 0 to ``actuation_lag_bytes_max`` for each change.
    The clock drifts by a constant drawn from ±``clock_drift_ppm_max``, starts at a random offset unless the
    maximum is 0, and also drives the limiters.

    A card that ``withholds_next_verb`` sends, after a loss, each verb only when the one before it has been
    acknowledged, until all that was under way has been sent again. A reliable connection has at most
    ``unacknowledged_packets_max`` packets on their way (0 = no limit). The PCI terms are nanoseconds by which
    host software sees a completion after the packet that completes it, and by which its timestamp is later:
    of RC verbs with data (``pci_rc_ns``, and ``pci_late_ns`` more with ``pci_late_probability``), and of
    empty UC messages that are received (``pci_uc_ns``). Completions keep their order.
    """

    name: str
    revision: int
    limiter_scope: Literal["per_priority", "per_qp"]
    limiters: int
    rate_step_bps: int
    actuation_lag_bytes_max: int
    clock_drift_ppm_max: float
    ack_every_packets: int
    withholds_next_verb: bool = False
    unacknowledged_packets_max: int = 0
    pci_rc_ns: int = 0
    pci_uc_ns: int = 0
    pci_late_ns: int = 0
    pci_late_probability: float = 0.0


CX3PRO = NicProfile(
    name="cx3pro",
    revision=3,
    limiter_scope="per_priority",
    limiters=8,
    rate_step_bps=100_000_000,
    actuation_lag_bytes_max=160_000,
    clock_drift_ppm_max=50.0,
    ack_every_packets=64,
    withholds_next_verb=True,
    pci_rc_ns=2_000,
    pci_uc_ns=6_000,
    pci_late_ns=2_000,
    pci_late_probability=0.125,
)
"""ConnectX-3 Pro. Revision 3. Revision 2 applied the PCI delays only to timestamps, not to the time at which
software sees completions. Revision 1 had no PCI delays and did not withhold verbs.

Source: RoGUE (SoCC'18), sections 3.3 and 4, for limiters and lag, Figure 9 for the withheld verb, Table 1
and section 5.4 for the times of PCI (how they divide is our model); the mlx4 driver for the rate step.
"""

CX4 = NicProfile(
    name="cx4",
    revision=1,
    limiter_scope="per_qp",
    limiters=0,
    rate_step_bps=100_000_000,
    actuation_lag_bytes_max=160_000,
    clock_drift_ppm_max=50.0,
    ack_every_packets=64,
)
"""ConnectX-4: limiters per queue pair; rate step and lag of ConnectX-3 Pro, for lack of published ones."""

IDEAL = NicProfile(
    name="ideal",
    revision=1,
    limiter_scope="per_qp",
    limiters=0,
    rate_step_bps=0,
    actuation_lag_bytes_max=0,
    clock_drift_ppm_max=0.0,
    ack_every_packets=64,
)
"""A card without flaws, for analytic checks and comparisons with simulators that model no flaws."""

SOFT_ROCE = NicProfile(
    name="soft_roce",
    revision=1,
    limiter_scope="per_priority",
    limiters=8,
    rate_step_bps=0,
    actuation_lag_bytes_max=0,
    clock_drift_ppm_max=0.0,
    ack_every_packets=66,
    unacknowledged_packets_max=129,
)
"""Linux's software RDMA behind Linux's limiters, on hosts whose computing takes no time.

Source: Linux 6.1, drivers/infiniband/sw/rxe/rxe_param.h and rxe_req.c: RXE_MAX_UNACKED_PSNS is 128, and one
packet more may leave; RXE_MAX_PKT_PER_ACK is 64, and 65 packets go by before one asks for an acknowledgement;
net/sched/sch_htb.c (rates in bytes per second, at once).
"""

PROFILES: dict[str, NicProfile] = {profile.name: profile for profile in (CX3PRO, CX4, IDEAL, SOFT_ROCE)}
