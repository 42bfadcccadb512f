"""Senders with one flow each into one receiver, directly on the engine, and cut links."""

import threading
from collections.abc import Mapping
from statistics import median
from typing import cast

from helpers.agent_flows import Flow

from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.replay import replay
from rogue.agent.drivers.simulated import SimulatedFlow
from rogue.agent.node.messages import Results
from rogue.simulator import CX3PRO, NicProfile, QueuePair, Simulation

RATE_BPS = 10**10
MTU_BYTES = 1024
IDEAL_BPS = RATE_BPS * MTU_BYTES / 1106
SECOND_NS = 10**9
BUFFER_BYTES = 9_000_000


class AgentStar:
    """Senders h0.. and a receiver around one switch, each sender with one flow towards the receiver.

    With a probe the last host WRITEs nothing to the receiver every millisecond. A buffer of None has no end.
    """

    def __init__(
        self,
        senders: int,
        schedule: Schedule,
        *,
        transport: str = "rogue",
        profile: NicProfile = CX3PRO,
        seed: int = 1,
        loss_probability: float = 0.0,
        buffer_bytes: int | None = BUFFER_BYTES,
        has_probe: bool = False,
        overrides: Mapping[str, object] | None = None,
    ) -> None:
        self.simulation = Simulation(seed=seed)
        self.simulation.add_switch("s0", buffer_bytes=buffer_bytes, alpha=1.0)
        hosts = [f"h{number}" for number in range(senders + 1 + has_probe)]
        for host in hosts:
            self.simulation.add_host(host, profile)
        for host in hosts:
            self.simulation.add_link(
                host, "s0", rate_bps=RATE_BPS, delay_ps=10**6, loss_probability=loss_probability
            )
        self.simulation.record_oracle_rtt()
        self.receiver = hosts[senders]
        self._link = LinkFacts(RATE_BPS, MTU_BYTES, rate_step_bps=profile.rate_step_bps)
        self.flows = [self._start(host, transport, schedule, overrides or {}) for host in hosts[:senders]]
        probe_schedule = Schedule(0, HostNs(0), count=None, interval_ns=10**6)
        self._probe = self._start(hosts[-1], "roce", probe_schedule, {})[1] if has_probe else None

    def _start(
        self, host: str, transport: str, schedule: Schedule, overrides: Mapping[str, object]
    ) -> tuple[QueuePair, SimulatedFlow]:
        settings = settings_for(transport, RATE_BPS, overrides)
        queue_pair, _ = self.simulation.connect(
            host,
            self.receiver,
            mtu_bytes=MTU_BYTES,
            retry_count=settings.retry_count,
            timeout_exponent=settings.timeout_exponent,
        )
        flow = SimulatedFlow(
            self.simulation,
            queue_pair,
            settings=settings,
            link=self._link,
            schedule=schedule,
            record_rtt=True,
        )
        flow.start()
        return queue_pair, flow

    def run(self, host_ns: int) -> "AgentStar":
        self.simulation.run_until(host_ns)
        for _, flow in self.flows:
            flow.finish()
        return self

    def goodputs_bps(self) -> list[float]:
        """Payload delivered in order so far, per flow."""
        return [end.delivered_bytes * 8 * SECOND_NS / self.simulation.now_ns for end, _ in self.flows]

    def jain(self) -> float:
        values = self.goodputs_bps()
        return sum(values) ** 2 / (len(values) * sum(value * value for value in values))

    def utilisation(self) -> float:
        """Goodput of all flows as a fraction of the payload that the receiver's port can carry."""
        return sum(self.goodputs_bps()) / IDEAL_BPS

    def queue_bytes(self) -> list[int]:
        """Samples of what waits for the receiver; `simulation.sample_queues` must have been called."""
        table = self.simulation.queue_table()
        values: list[int] = table["bytes"][table["port"] == f"s0->{self.receiver}"].tolist()
        return values

    def probe_us(self) -> list[float]:
        assert self._probe is not None, "a star without a probe"
        return [
            (record.end_ns - record.start_ns) / 1000
            for record in self._probe.transfers
            if record.end_ns is not None
        ]

    def estimate_error_ns(self) -> float:
        """Median over all accepted samples of estimate minus truth."""
        rows = zip(*(column.tolist() for column in self.simulation.oracle_table().values()), strict=True)
        truth_ns = {(qp_num, wr_id): (end_ps - left_ps) / 1000 for qp_num, wr_id, left_ps, end_ps in rows}
        errors_ns = [
            sample.rtt_ns - truth_ns[queue_pair.qp_num, sample.wr_id]
            for queue_pair, flow in self.flows
            for sample in flow.rtt_samples
            if sample.accepted
        ]
        return float(median(errors_ns))


def repeated(size_bytes: int, until_ns: int) -> Schedule:
    return Schedule(size_bytes, HostNs(0), count=None, repeat_until_ns=cast("HostNs", until_ns))


SIZE_BYTES = 4 * 2**20
_NS_PER_S = 1_000_000_000
_CUT = "sleep 1; tc qdisc add dev eth1 root netem loss 100%; sleep 2; tc qdisc del dev eth1 root"


def start_and_cut(flow: Flow, repeat_for_s: int = 4) -> None:
    """Start transfers back to back, cut both ends' links while they run, and wait until the cut is over."""
    flow.start(SIZE_BYTES, run_s=240, count=None, repeat_for_ns=repeat_for_s * _NS_PER_S)
    cuts = [threading.Thread(target=each.connection.run, args=(_CUT,)) for each in flow.nodes.values()]
    for cut in cuts:
        cut.start()
    for cut in cuts:
        cut.join()


def check_survived(flow: Flow, sent: Results, received: Results) -> None:
    """It turned to the shadow queue pair and resynchronised, and the log of it all is whole."""
    assert (sent.status, sent.transfers_unfinished, sent.error) == ("ok", 0, None)
    assert sent.transfers_ok > 0
    assert sent.sha256 == received.sha256, "bytes sent again landed where they belong, and nowhere else"
    words = [row["event"] for row in flow.rows("requester", sent, "events")]
    assert words[0] == "qp_failed"
    assert {"shadow_switch", "reset", "resynchronised"} <= set(words)
    events = [row["event"] for row in flow.rows("responder", received, "events")]
    assert events.count("reset") == events.count("resynchronised") >= 1
    assert int(str(sent.facts["again_bytes"])) > 0
    inputs = flow.text("requester", sent, "inputs").splitlines()
    assert replay(inputs) > SIZE_BYTES // 65_536, "the log replays to identical actions"
