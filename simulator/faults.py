"""Losses, link cuts, pause storms and slow receivers."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from rogue.simulator._core import Engine
from rogue.simulator.errors import SimulationError
from rogue.simulator.flow_control import FlowControls
from rogue.simulator.forwarding import Rerouting
from rogue.simulator.parameters import (
    BUFFER_BYTES_MAX,
    INTERVAL_NS_MAX,
    RATE_BPS_MAX,
    require_integer,
    require_probability,
)
from rogue.simulator.topology import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss(ABC):
    """A loss model for packets that arrive from ``from_ns`` until ``until_ns`` (None: no end)."""

    from_ns: int = 0
    until_ns: int | None = None

    def arguments(self, where: str) -> dict[str, float | None]:
        """Return the engine's arguments; raise SimulationError for invalid values."""
        require_integer(where, "from_ns", self.from_ns, 0, INTERVAL_NS_MAX)
        if self.until_ns is not None:
            require_integer(where, "until_ns", self.until_ns, self.from_ns, INTERVAL_NS_MAX)
        return {"from_ns": self.from_ns, "until_ns": self.until_ns} | self._model(where)

    @abstractmethod
    def _model(self, where: str) -> dict[str, float]:
        """Return the engine's number of the kind of loss, and its parameters."""


@dataclass(frozen=True, slots=True)
class IndependentLoss(Loss):
    """Each packet is lost with the same probability, independently of others."""

    probability: float

    def _model(self, where: str) -> dict[str, float]:
        return {
            "kind": 1,
            "loss_probability": require_probability(where, "probability", self.probability),
        }


@dataclass(frozen=True, slots=True)
class BurstLoss(Loss):
    """A two-state loss model that begins in the good state and may change its state before each packet.

    Bad periods have 1 / ``to_good_probability`` packets on average; to_bad / (to_bad + to_good) of all
    packets fall into one. Source: Gilbert, "Capacity of a burst-noise channel", 1960; Elliott, 1963.
    """

    to_bad_probability: float
    to_good_probability: float
    bad_loss_probability: float = 1.0
    good_loss_probability: float = 0.0

    def _model(self, where: str) -> dict[str, float]:
        bad = self.bad_loss_probability
        return {
            "kind": 2,
            "to_bad_probability": require_probability(where, "to_bad_probability", self.to_bad_probability),
            "to_good_probability": require_probability(
                where, "to_good_probability", self.to_good_probability
            ),
            "loss_probability": bad if bad == 1 else require_probability(where, "bad_loss_probability", bad),
            "good_loss_probability": require_probability(
                where, "good_loss_probability", self.good_loss_probability
            ),
        }


@dataclass(frozen=True, slots=True)
class IpIdLoss(Loss):
    """Lose packets whose 16-bit IP ID has all bits of ``mask`` set, as a configured switch can.

    A NIC numbers all packets that it sends from a random number on, so mask 2^n - 1 loses one in 2^n.
    Source: Guo et al., "RDMA over commodity Ethernet at scale", 2016, section 4.1.
    """

    mask: int

    def _model(self, where: str) -> dict[str, float]:
        return {
            "kind": 3,
            "ip_id_mask": require_integer(where, "mask", self.mask, 0, 2**16 - 1),
        }


class Faults:
    """Part of a simulation: injected faults. The switch of a host that pauses it must have flow control."""

    _engine: Engine
    _topology: Topology
    _flow_controls: FlowControls
    _rerouting: Rerouting

    def cut_link(  # noqa: PLR0913 - a cut has that many properties, all named
        self,
        a: str,
        b: str,
        *,
        start_ns: int,
        duration_ns: int,
        reroute_after_ns: int | None = None,
        one_way: bool = False,
    ) -> None:
        """Cut the cable between two nodes for a time that begins now or later.

        Packets on the cable during the cut are lost, in both directions or only from ``a`` to ``b``. The
        ports at its ends continue to send.
        Switches forward around the link from ``reroute_after_ns`` after the start of the cut until the same
        time after its end. With None, or a shorter cut, they never do.
        """
        where = f"cut_link {a}-{b}"
        ends = self._topology.node(where, a), self._topology.node(where, b)
        require_integer(where, "start_ns", start_ns, self._engine.now_ns, INTERVAL_NS_MAX)
        require_integer(where, "duration_ns", duration_ns, 1, INTERVAL_NS_MAX)
        if reroute_after_ns is not None:
            require_integer(where, "reroute_after_ns", reroute_after_ns, 0, INTERVAL_NS_MAX)
            if reroute_after_ns < duration_ns:
                self._rerouting.require_may_leave_out(where, ends)
        ways = (ends,) if one_way else (ends, ends[::-1])
        for link in [self._topology.link_between(where, *way) for way in ways]:
            self._engine.inject("link_cut", link=link, start_ns=start_ns, end_ns=start_ns + duration_ns)
        if reroute_after_ns is not None and reroute_after_ns < duration_ns:
            seen_ns = start_ns + reroute_after_ns
            self._rerouting.leave_out(where, ends, seen_ns, seen_ns + duration_ns)

    def pause_storm(
        self, host: str, *, start_ns: int, duration_ns: int, watchdog_ns: int | None = None
    ) -> None:
        """Break a NIC: it pauses its switch permanently, sends nothing else and receives nothing.

        With a watchdog in the NIC it stops pausing after ``watchdog_ns`` but stays broken.
        Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 6.2.
        """
        where = f"pause_storm {host}"
        node = self._pausing_host(where, host)
        require_integer(where, "start_ns", start_ns, self._engine.now_ns, INTERVAL_NS_MAX)
        require_integer(where, "duration_ns", duration_ns, 1, INTERVAL_NS_MAX)
        paused_ns = duration_ns
        if watchdog_ns is not None:
            paused_ns = min(paused_ns, require_integer(where, "watchdog_ns", watchdog_ns, 1, INTERVAL_NS_MAX))
        engine = self._engine
        for number, ends in enumerate(self._topology.link_ends):
            if node in ends:
                engine.inject("link_cut", link=number, start_ns=start_ns, end_ns=start_ns + duration_ns)

        def pause(is_pausing: bool) -> None:
            engine.inject("nic_pause", host=node, is_pausing=is_pausing)

        engine.schedule(start_ns, lambda _now: pause(True))
        engine.schedule(start_ns + paused_ns, lambda _now: pause(False))

    def receive_slowly(  # noqa: PLR0913 - a receiver has that many properties, all named
        self,
        host: str,
        *,
        rate_bps: int,
        start_ns: int = 0,
        duration_ns: int | None = None,
        buffer_bytes: int = 256_000,
        xoff_bytes: int = 128_000,
        xon_bytes: int = 64_000,
    ) -> None:
        """Limit the rate at which a NIC drains received frames; it pauses its switch above ``xoff_bytes``.

        It starts now if ``start_ns`` is 0, and at its end the NIC drains its buffer at once. Packets count as
        received when they arrive. Without flow control the NIC loses what its buffer cannot hold.
        Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.4.
        """
        where = f"receive_slowly {host}"
        node, _ = self._topology.host(where, host)
        self._topology.neighbour_of_host(where, node)
        require_integer(where, "rate_bps", rate_bps, 1, RATE_BPS_MAX)
        require_integer(where, "buffer_bytes", buffer_bytes, 1, BUFFER_BYTES_MAX)
        if not 0 <= xon_bytes < xoff_bytes < buffer_bytes:
            raise SimulationError(
                f"{where}: expected xon_bytes below xoff_bytes below buffer_bytes, "
                f"got {xon_bytes}, {xoff_bytes}, {buffer_bytes}"
            )
        engine = self._engine
        require_integer(where, "start_ns", start_ns, 0, INTERVAL_NS_MAX)
        begin_ns = start_ns or engine.now_ns
        require_integer(where, "start_ns", begin_ns, engine.now_ns, INTERVAL_NS_MAX)
        if duration_ns is not None:
            require_integer(where, "duration_ns", duration_ns, 1, INTERVAL_NS_MAX)

        def receive_at(rate_bps: int) -> None:
            engine.inject(
                "slow_receiver",
                host=node,
                rate_bps=rate_bps,
                buffer_bytes=buffer_bytes,
                xoff_bytes=xoff_bytes,
                xon_bytes=xon_bytes,
            )

        if begin_ns == engine.now_ns:
            receive_at(rate_bps)
        else:
            engine.schedule(begin_ns, lambda _now: receive_at(rate_bps), in_step=True)
        if duration_ns is not None:
            engine.schedule(begin_ns + duration_ns, lambda _now: receive_at(RATE_BPS_MAX), in_step=True)

    def _pausing_host(self, where: str, host: str) -> int:
        """Return the number of a host that can pause its switch."""
        node, _ = self._topology.host(where, host)
        switch = self._topology.neighbour_of_host(where, node)
        if not self._flow_controls.has(switch):
            raise SimulationError(
                f"{where}: expected {host} on a switch with flow control, which it can pause, "
                f"got {self._topology.names[switch]!r} without; give its switch flow_control"
            )
        return node
