"""The queue pairs between a requester and the library that serves it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256

from rogue.agent.core.link import LinkFacts
from rogue.agent.core.recovery import Peer, QueuePairNumbers
from rogue.agent.core.seal import NONCE_BYTES, Seal
from rogue.agent.core.settings import TransportSettings
from rogue.agent.drivers.simulated_limiters import NicLimiters
from rogue.agent.drivers.simulated_nic import Fabric, NicDatagrams, NicMemory, NicQueuePair

Pair = tuple[NicQueuePair, NicQueuePair]
"""The requester's end and the passive one."""

NO_LIMITERS: Mapping[str, NicLimiters] = {}
"""Each queue pair has a limiter of its own, or its limiter is not managed."""


@dataclass(frozen=True, slots=True)
class SimulatedPath:
    """Everything connected between two hosts for one flow, the requester's end first.

    `has_memory`: the queue pairs are bound to memories, so that verbs need their place in the transfer.
    `limiters`: those of the two NICs, None where each queue pair has its own.
    """

    main: Pair
    shadow: Pair | None = None
    side_channel: tuple[NicDatagrams, NicDatagrams] | None = None
    has_memory: bool = False
    limiters: tuple[NicLimiters | None, NicLimiters | None] = (None, None)
    seal: Seal | None = None

    @property
    def pairs(self) -> list[Pair]:
        """Main, and shadow if there is one."""
        return [self.main] if self.shadow is None else [self.main, self.shadow]

    def bound(self, local: NicMemory, remote: NicMemory) -> "SimulatedPath":
        """Bind the requester's ends: verbs then really move bytes, each at its place in the transfer.

        `local` is the requester's memory; both hold at least a whole transfer.
        """
        for end, _ in self.pairs:
            end.bind(local, remote)
        return replace(self, has_memory=True)

    def peer(self, link: LinkFacts) -> Peer:
        """The connection's facts about the other end, whose NIC port is `link`."""
        shadow = None if self.shadow is None else QueuePairNumbers(*(end.qp_num for end in self.shadow))
        return Peer(link, self.main[1].qp_num, shadow, self.seal)


def open_path(  # noqa: PLR0913 - two hosts and what may differ between flows
    fabric: Fabric,
    source: str,
    destination: str,
    *,
    settings: TransportSettings,
    mtu_bytes: int,
    path_seed: int = 0,
    limiters: Mapping[str, NicLimiters] = NO_LIMITERS,
) -> SimulatedPath:
    """Connect what the transport's settings ask for; the shadow shares the main pair's limiter and route.

    `limiters` has an entry for each host whose NIC has fewer limiters than it may get queue pairs.
    """
    shared = (limiters.get(source), limiters.get(destination))

    connect_service = fabric.connect if settings.service == "rc" else partial(fabric.connect, service="uc")

    def connect(limiter_of: NicQueuePair | None) -> Pair:
        return connect_service(
            source,
            destination,
            mtu_bytes=mtu_bytes,
            retry_count=settings.retry_count,
            timeout_exponent=settings.timeout_exponent,
            path_seed=path_seed,
            limiter_of=limiter_of,
        )

    main = connect(None)
    if not settings.has_shadow:
        return SimulatedPath(main, limiters=shared)
    side_channel = (fabric.datagram_queue_pair(source), fabric.datagram_queue_pair(destination))
    seal = _seeded_seal(path_seed, main)
    return SimulatedPath(main, connect(main[0]), side_channel, limiters=shared, seal=seal)


def _seeded_seal(seed: int, main: Pair) -> Seal:
    """Return what introductions over SSH would agree upon, the same in each run of the same seed."""
    nonces = (
        sha256(f"nonce of queue pair {end.qp_num}, seed {seed}".encode()).digest()[:NONCE_BYTES]
        for end in main
    )
    return Seal(*nonces)
