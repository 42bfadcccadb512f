"""The packets of one transfer, in the order in which they are sent, and those that answer them."""

from dataclasses import dataclass, replace

from rogue.workloads.framing import Packets
from rogue.workloads.pipeline import Exchange, Train
from rogue.workloads.traffic.workload import Verb


@dataclass(frozen=True, slots=True)
class PacketRules:
    """How a transport makes packets of a transfer, and which of them are acknowledged."""

    packets: Packets
    """Headers, and the payload of a full packet."""
    has_acknowledgements: bool = True
    """False: the connection is unreliable, and a transfer is complete when its last packet has left."""
    verb_bytes: int | None = None
    """Payload of each verb that a transfer is cut into; None: a transfer is one verb."""
    acknowledged_every: int | None = None
    """Every n-th packet of a verb is acknowledged; None: only the last one."""
    acknowledges_first: bool = False
    """The first packet is acknowledged, and every n-th one after it."""
    acknowledges_verbs: bool = True
    """The last packet of every verb is acknowledged, not only that of the transfer.

    Where it is not, packets are counted through all verbs of a transfer. This is exact if each verb has a
    whole number of acknowledgements. Otherwise only the last packet counts as acknowledged.
    """
    batch_verbs: int | None = None
    """Verbs of a batch, which ends with immediate data: in its last WRITE, or in a WRITE after SENDs."""
    immediate_bytes: int = 0


def train_of(rules: PacketRules, verb: Verb, size_bytes: int) -> Train:
    """Return the packets of a transfer."""
    if not rules.acknowledges_verbs and size_bytes > (rules.verb_bytes or size_bytes) and not _is_even(rules):
        rules = replace(rules, acknowledged_every=None, acknowledges_first=False)
    verb_bytes = min(rules.verb_bytes or size_bytes, size_bytes)
    verbs, last_bytes = (divmod(size_bytes - 1, verb_bytes)) if verb_bytes else (0, -1)
    last_bytes += 1
    if rules.batch_verbs is None:
        whole = _verb(rules, verb, verb_bytes, is_acknowledged=rules.acknowledges_verbs)
        return (verbs, whole), (1, _verb(rules, verb, last_bytes, is_acknowledged=True))
    batches, others = divmod(verbs, rules.batch_verbs)
    batch = _batch(rules, verb, rules.batch_verbs - 1, verb_bytes, verb_bytes)
    return (batches, batch), (1, _batch(rules, verb, others, verb_bytes, last_bytes))


def _is_even(rules: PacketRules) -> bool:
    verb_bytes, every = rules.verb_bytes or 0, rules.acknowledged_every or 1
    return verb_bytes % (rules.packets.payload_bytes * every) == 0


def _batch(rules: PacketRules, verb: Verb, others: int, verb_bytes: int, last_bytes: int) -> Train:
    """Verbs, the last of which asks for an acknowledgement of its receiver's library."""
    if verb == "write":
        last = _verb(rules, verb, last_bytes, end_bytes=rules.immediate_bytes)
        return (others, _verb(rules, verb, verb_bytes)), (1, last)
    asking = _verb(rules, "write", 0, end_bytes=rules.immediate_bytes)
    return (others, _verb(rules, verb, verb_bytes)), (1, _verb(rules, verb, last_bytes)), (1, asking)


def _verb(
    rules: PacketRules, verb: Verb, size_bytes: int, *, is_acknowledged: bool = False, end_bytes: int = 0
) -> Train:
    mtu_bytes = rules.packets.payload_bytes
    count = max(1, -(-size_bytes // mtu_bytes))
    last_bytes = size_bytes - (count - 1) * mtu_bytes + end_bytes
    if verb == "read":
        return _responses(rules, count, last_bytes)
    framing = rules.packets.framing
    data_bytes = framing.header_bytes + framing.gap_bytes
    first_bytes = framing.remote_address_bytes if verb == "write" else 0
    ack_bytes = framing.acknowledgement_bytes + framing.gap_bytes
    last_ack_bytes = ack_bytes if is_acknowledged or rules.acknowledged_every == 1 else 0
    if count == 1:
        return ((1, Exchange(last_bytes + data_bytes + first_bytes, last_ack_bytes)),)
    full_bytes = mtu_bytes + data_bytes
    is_first_told = rules.acknowledges_first or rules.acknowledged_every == 1
    first = Exchange(full_bytes + first_bytes, ack_bytes if is_first_told else 0)
    last = Exchange(last_bytes + data_bytes, last_ack_bytes)
    plain, told = Exchange(full_bytes, 0), Exchange(full_bytes, ack_bytes)
    return (1, first), *_middle(rules, count, plain, told), (1, last)


def _middle(rules: PacketRules, count: int, plain: Exchange, told: Exchange) -> Train:
    """All packets of a verb but the first and the last."""
    every = rules.acknowledged_every
    if every is None or every == 1:
        return ((count - 2, plain if every is None else told),)
    first_told = every + (1 if rules.acknowledges_first else 0)
    before = min(first_told, count) - 2
    groups, others = divmod(max(0, count - first_told), every)
    group: Train = ((1, told), (every - 1, plain))
    rest: Train = ((1, told), (others - 1, plain)) if others else ()
    return (before, plain), (groups, group), (1, rest)


def _responses(rules: PacketRules, count: int, last_bytes: int) -> Train:
    """The request comes before the first response."""
    framing, mtu_bytes = rules.packets.framing, rules.packets.payload_bytes
    data_bytes, edge_bytes = framing.header_bytes + framing.gap_bytes, framing.response_bytes
    request_bytes = data_bytes + framing.remote_address_bytes
    if count == 1:
        return ((1, Exchange(request_bytes, last_bytes + data_bytes + edge_bytes)),)
    return (
        (1, Exchange(request_bytes, mtu_bytes + data_bytes + edge_bytes)),
        (count - 2, Exchange(0, mtu_bytes + data_bytes)),
        (1, Exchange(0, last_bytes + data_bytes + edge_bytes)),
    )
