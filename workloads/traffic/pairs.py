"""Flows that are listed one by one."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from rogue.workloads.specification import (
    Delay,
    FromList,
    Rate,
    Size,
    Specification,
    Time,
    mistake,
    mistakes_at,
)
from rogue.workloads.topologies.topology import HOSTS_MAX, Placement
from rogue.workloads.traffic.workload import Flow, Verb, Workload

SECOND_NS: Final = 1_000_000_000

HostName = Annotated[str, Field(pattern=r"^h(0|[1-9][0-9]{0,3})$")]


class Pair(Specification):
    """One of the flows."""

    source: HostName
    """Host that sends, such as h0."""
    destination: HostName
    """Host that receives."""
    offered_bps: Rate | None = None
    """Rate at which the source offers payload; by default as fast as possible."""
    start_ns: Delay = 0
    """When it begins."""
    stop_ns: Time | None = None
    """Instant from which no transfer starts; by default the end."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.source == self.destination:
            found = mistake("a host other than the source", "name another host", self.destination)
            raise mistakes_at({"destination": found})
        if self.stop_ns is not None and self.stop_ns <= self.start_ns:
            raise mistakes_at({"stop": mistake("an instant after start", "let it run longer")})
        return self


class Pairs(Workload):
    """Flows that are listed one by one, each from a host to another, with its own rate and times."""

    kind: Literal["pairs"] = "pairs"
    flows_listed: Annotated[
        tuple[Pair, ...], FromList, Field(alias="flows", min_length=1, max_length=HOSTS_MAX)
    ]
    """The flows."""
    size_bytes: Size = 1_000_000
    """Payload of one transfer; each flow has as many as it needs."""
    run_for_ns: Time
    """How long."""
    verb: Verb = "write"
    """How the bytes are moved."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if any(pair.offered_bps and not self._interval_ns(pair) for pair in self.flows_listed):
            expected = "transfers that take a nanosecond or more at the rates that are offered"
            raise mistakes_at({"size": mistake(expected, "raise it, or offer less")})
        return self

    def hosts_min(self) -> int:
        return len({*self._names()})

    def unfit(self, placement: Placement) -> PydanticCustomError | None:
        name = next((name for name in self._names() if name not in placement.hosts), None)
        if name is None:
            return None
        advice = f"{placement.advice_for(name)}, or name another one"
        return mistake(f"hosts that may have traffic, {placement.described}", advice, name)

    def _names(self) -> Iterator[str]:
        for pair in self.flows_listed:
            yield from (pair.source, pair.destination)

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        counts: dict[tuple[str, str], int] = {}
        flows = []
        for pair in self.flows_listed:
            ends = pair.source, pair.destination
            number = counts[ends] = counts.get(ends, -1) + 1
            flows.append(self._flow(pair, number, seed))
        return tuple(flows)

    def _flow(self, pair: Pair, number: int, seed: int) -> Flow:
        return Flow(
            source=pair.source,
            destination=pair.destination,
            verb=self.verb,
            size_bytes=self.size_bytes,
            start_ns=pair.start_ns,
            count=None,
            repeat_until_ns=self._end_ns(pair),
            interval_ns=self._interval_ns(pair),
            number=number,
        ).with_start_jitter(seed)

    def scheduled_transfers(self, placement: Placement) -> float:
        flows = ((self._end_ns(pair) - pair.start_ns, self._interval_ns(pair)) for pair in self.flows_listed)
        return sum(max(0, lasting_ns) / interval_ns for lasting_ns, interval_ns in flows if interval_ns)

    def _interval_ns(self, pair: Pair) -> int | None:
        """Return the time from one transfer to the next; None: back to back."""
        return None if pair.offered_bps is None else self.size_bytes * 8 * SECOND_NS // pair.offered_bps

    def _end_ns(self, pair: Pair) -> int:
        return min(pair.stop_ns or self.run_for_ns, self.run_for_ns)

    @property
    def duration_ns(self) -> int:
        return self.run_for_ns
