"""One packet of one flow, and what happens to it."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.faults.fault import Fault
from rogue.workloads.specification import mistake, mistakes_at
from rogue.workloads.units import TIME, UnitError

PSNS: Final = 2**24
"""Packet sequence numbers: 24 bits. Source: InfiniBand Architecture, volume 1, section 9.7.2."""
DELAY_NS_MAX: Final = 10 * 10**9
PACKETS_MAX: Final = 1_000
NUMBERED: Final = ("data", "read_request", "ack", "nak")
"""Kinds of packets that a packet sequence number identifies."""


class PacketEvent(Fault):
    """One packet of one flow is dropped, marked, corrupted, delayed, duplicated or overtaken.

    It happens when the packet arrives at the first switch. The fault counts the packets that match `flow`,
    `packet` and `psn` there, and acts on number `transmission` only. A packet that never comes is never
    acted on.

    Source: Yu et al., "Understanding the micro-behaviors of hardware offloaded network stacks with Lumina",
    SIGCOMM 2023, for events by queue pair, packet sequence number and transmission.
    """

    kind: Literal["packet_event"] = "packet_event"
    flow: Annotated[str, Field(min_length=1, max_length=300)]
    """The flow as in the results, group/source->destination, such as main/h0->h5."""
    packet: Literal["data", "read_request", "ack", "nak", "cnp", "datagram"] = "data"
    """Which of its packets: `data` (WRITE, SEND, READ response) and `datagram` come from its source, the
    others from its destination."""
    psn: Annotated[int, Field(ge=0, lt=PSNS)] | None = None
    """The packet's number as in the table of packets, from 0; of an ACK or NAK the number that it carries.
    CNPs and datagrams have none."""
    transmission: Annotated[int, Field(ge=1)] = 1
    """1 for the first time that such a packet comes, 2 for its first retransmission, and so on."""
    do: Literal["drop", "mark", "corrupt", "delay", "duplicate", "reorder"]
    """`mark`: congestion experienced. `corrupt`: the receiving NIC discards it. `reorder`: it goes behind
    later packets of the flow in the same direction."""
    amount: int | str | None = None
    """A time for `delay`; copies for `duplicate`, and packets of the flow that overtake for `reorder` (1)."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.psn is None) == (self.packet in NUMBERED):
            kinds = ", ".join(NUMBERED)
            if self.psn is None:
                found = mistake(f"a psn, as packet is {self.packet}", "write its number, from 0", "none")
            else:
                found = mistake(f"no psn with packet {self.packet}, only with {kinds}", "leave it out")
            raise mistakes_at({"psn": found})
        self._check_amount()
        return self

    def _check_amount(self) -> None:
        if self.do == "delay":
            try:
                is_time = 0 < TIME.parse(self.amount) <= DELAY_NS_MAX
            except UnitError:
                is_time = False
            if is_time:
                return
            most = TIME.format(DELAY_NS_MAX)
            expected, advice = f"a time above 0 and up to {most} with delay, such as 20us", "write one"
        elif self.do in ("duplicate", "reorder"):
            if self.amount is None or (isinstance(self.amount, int) and 1 <= self.amount <= PACKETS_MAX):
                return
            counted = "copies" if self.do == "duplicate" else "packets that overtake"
            expected = f"a number of {counted} from 1 to {PACKETS_MAX} with {self.do}"
            advice = "write one, or leave it out for 1"
        elif self.amount is None:
            return
        else:
            expected, advice = f"no amount with {self.do}", "leave it out"
        got = "none" if self.amount is None else None
        raise mistakes_at({"amount": mistake(expected, advice, got)})

    @property
    def place(self) -> str:
        """Return what is done to which packet."""
        number = "" if self.psn is None else f" {self.psn}"
        amount = "" if self.amount is None else f" {self.amount}"
        return f"{self.do}{amount}: {self.packet}{number}, transmission {self.transmission}"

    @property
    def delay_ns(self) -> int:
        """Return for how long the packet is held; 0 if it is not delayed."""
        return TIME.parse(self.amount) if self.do == "delay" else 0

    @property
    def packets(self) -> int:
        """Return the number of copies, or of the packets that overtake; 0 if it is neither."""
        return int(self.amount or 1) if self.do in ("duplicate", "reorder") else 0
