"""NIC profiles: limiters, clock and quirks of a card. Every result names its profile and revision."""

from dataclasses import dataclass, field
from typing import Final, Literal

CNP_SCOPES: Final = ("per_qp", "per_ip", "per_port")
"""What shares the least time between CNPs, by the numbers of CnpScope (cpp/base/configuration.h)."""


@dataclass(frozen=True, slots=True)
class RetryRules:
    """Say how a card counts the retries of a reliable connection.

    A NAK or a timeout takes one of ``retry_count`` retries, and an ACK that makes progress refills them. So
    does a NAK, which acknowledges all packets before its own: with ``refills_per_verb`` only if these end a
    verb. With ``ignores_naks`` the card ignores NAKs from a retry until the retries are refilled, and waits
    for its timeout. With ``is_endless_at_seven`` seven retries never run out. With ``waits_at_read_gap`` a
    gap in the responses to a READ is no NAK. A requester asks for an ACK at every ``ack_every_packets``-th
    packet of a verb; with ``keeps_ack_count`` at every such packet that it sends, also if it is sent again.

    Source of the defaults: InfiniBand architecture, volume 1, 9.7.5.1.2 (a NAK acknowledges what is before
    it), 9.9.2.1.1 (the counter is reloaded whenever an outstanding request is cleared). A request is a packet
    here; it may also be read as a message.
    """

    refills_per_verb: bool = False
    ignores_naks: bool = False
    is_endless_at_seven: bool = False
    waits_at_read_gap: bool = False
    keeps_ack_count: bool = False


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
    ``unacknowledged_packets_max`` packets on their way (0 = no limit). When a NAK comes, at most
    ``packets_after_nak_max`` packets that the window allows still leave before the first one that is sent
    again: the card has taken them up before. If the window had closed, these are packets that the NAK allows,
    because it acknowledges all before its own.

    The PCI terms are nanoseconds by which host software sees a completion after the packet that completes it,
    and by which its timestamp is later: of RC verbs with data (``pci_rc_ns``, and ``pci_late_ns`` more with
    ``pci_late_probability``), and of empty UC messages that are received (``pci_uc_ns``). Completions keep
    their order.

    ``retry_rules``, ``packets_after_nak_max``, ``nak_delay_ns`` and ``resend_delay_ns`` hold for go-back-N.
    The first time is that from the packet that shows a gap to its NAK, the second that from a NAK (or a gap
    in READ responses) to the first packet that the queue pair sends again, and ``cnp_delay_ns`` is that from
    a marked packet to its CNP. The least time between CNPs is ``cnp_interval_ns``, by default that of the
    congestion control; ``cnp_scope`` says what shares it. With ``cnp_with_nak`` a NAK draws a CNP, as a
    marked packet does. No timeout is shorter than ``timeout_min_ns``. Source of these quantities: Yu et al.,
    "Understanding the micro-behaviors of hardware offloaded network stacks with Lumina", SIGCOMM 2023.
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
    packets_after_nak_max: int = 0
    pci_rc_ns: int = 0
    pci_uc_ns: int = 0
    pci_late_ns: int = 0
    pci_late_probability: float = 0.0
    retry_rules: RetryRules = field(default_factory=RetryRules)
    nak_delay_ns: int = 0
    resend_delay_ns: int = 0
    cnp_delay_ns: int = 0
    cnp_interval_ns: int | None = None
    cnp_scope: Literal["per_qp", "per_ip", "per_port"] = "per_qp"
    cnp_with_nak: bool = False
    timeout_min_ns: int = 0

    @property
    def cnp_scope_number(self) -> int:
        """Return the engine's number of `cnp_scope`."""
        return CNP_SCOPES.index(self.cnp_scope)


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
    revision=2,
    limiter_scope="per_priority",
    limiters=8,
    rate_step_bps=0,
    actuation_lag_bytes_max=0,
    clock_drift_ppm_max=0.0,
    ack_every_packets=66,
    unacknowledged_packets_max=129,
    retry_rules=RetryRules(
        refills_per_verb=True, ignores_naks=True, is_endless_at_seven=True, waits_at_read_gap=True
    ),
)
"""Linux's software RDMA behind Linux's limiters, on hosts whose computing takes no time.

Revision 2. Revision 1 counted retries as the other profiles do.

Source: Linux 6.1, drivers/infiniband/sw/rxe/rxe_param.h and rxe_req.c: RXE_MAX_UNACKED_PSNS is 128, and one
packet more may leave; RXE_MAX_PKT_PER_ACK is 64, and 65 packets go by before one asks for an acknowledgement;
rxe_comp.c, check_psn(), check_ack() and COMPST_ERROR_RETRY for retries;
net/sched/sch_htb.c (rates in bytes per second, at once).
"""

PROFILES: dict[str, NicProfile] = {profile.name: profile for profile in (CX3PRO, CX4, IDEAL, SOFT_ROCE)}
