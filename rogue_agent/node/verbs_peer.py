"""From what the two ends say about themselves to what they are made of."""

import secrets
from collections.abc import Callable
from random import Random
from typing import TypeVar

from rogue.agent.core.errors import SettingsError
from rogue.agent.core.link import LinkFacts
from rogue.agent.core.recovery import Peer, QueuePairNumbers
from rogue.agent.core.seal import Seal
from rogue.agent.core.settings import TransportSettings
from rogue.agent.drivers.verbs.endpoint import Endpoint, EndpointPlan, Remote
from rogue.agent.drivers.verbs.queue_pair import RemoteMemory, RemoteQueuePair
from rogue.agent.drivers.verbs.responder import SENDS
from rogue.agent.drivers.verbs.side_channel import RemoteSide
from rogue.agent.node.messages import Prepare, Prepared

NO_LIMITER = "none"
_RECEIVES = 256
_IMMEDIATE_BYTES = 16
FieldT = TypeVar("FieldT", int, str)


def endpoint_plan(request: Prepare, settings: TransportSettings) -> EndpointPlan:
    """What queue pairs and receives an end needs.

    Receives take acknowledgements of the peer's library, its rates for READs, immediates, or SENDs.
    """
    is_requester = request.end == "requester"
    has_receives = (
        settings.has_batch_acknowledgements
        if is_requester
        else settings.service == "uc" or request.verb != "write" or "arrival" in request.tells
    )
    is_sent_to = not is_requester and request.verb == "send"
    return EndpointPlan(
        service=settings.service,
        buffer_bytes=request.buffer_bytes,
        sends=settings.send_queue_verbs if is_requester else SENDS,
        has_shadow=settings.has_shadow,
        receives=_RECEIVES if has_receives else 0,
        receive_bytes=min(settings.segment_bytes, request.buffer_bytes) if is_sent_to else _IMMEDIATE_BYTES,
        receives_in_buffer=is_sent_to,
        completions=request.completions,
        draw=drawer(request),
    )


def drawer(request: Prepare) -> Callable[[int], int]:
    """The source of this end's secrets: the system, or a seed where no other user is."""
    return secrets.randbits if request.secret_seed is None else Random(request.secret_seed).getrandbits


def remote_of(peer: Prepared, *, has_shadow: bool) -> Remote:
    """The other endpoint, as it introduced itself."""
    gid = _given("gid", peer.gid)
    ends = [RemoteQueuePair(gid, _given("qp_num", peer.qp_num), _given("psn", peer.psn))]
    if has_shadow:
        shadow = RemoteQueuePair(
            gid, _given("shadow_qp_num", peer.shadow_qp_num), _given("shadow_psn", peer.shadow_psn)
        )
        ends.append(shadow)
    memory = RemoteMemory(
        _given("buffer_address", peer.buffer_address),
        _given("buffer_bytes", peer.buffer_bytes),
        _given("rkey", peer.rkey),
    )
    side = None
    if has_shadow:
        side = RemoteSide(gid, _given("side_qp_num", peer.side_qp_num), _given("side_qkey", peer.side_qkey))
    return Remote(tuple(ends), side, memory)


def seal_of(own_nonce: bytes, peer: Prepared, *, is_requester: bool) -> Seal:
    """The seal of a connection, from the introductions of both ends."""
    peer_nonce = bytes.fromhex(_given("nonce", peer.nonce))
    return Seal(own_nonce, peer_nonce) if is_requester else Seal(peer_nonce, own_nonce)


def peer_facts(peer: Prepared, endpoint: Endpoint, mtu_bytes: int) -> Peer:
    """The facts about the other end, for the core."""
    link = LinkFacts(
        peer.line_rate_bps,
        mtu_bytes,
        rate_step_bps=peer.limiter_step_bps,
        has_limiter=peer.limiter != NO_LIMITER,
    )
    qp_num = _given("qp_num", peer.qp_num)
    if len(endpoint.pairs) == 1:
        return Peer(link, qp_num)
    shadow = QueuePairNumbers(endpoint.pairs[1].qp_num, _given("shadow_qp_num", peer.shadow_qp_num))
    return Peer(link, qp_num, shadow, seal_of(endpoint.nonce, peer, is_requester=True))


def _given(name: str, value: FieldT | None) -> FieldT:
    if value is None:
        raise SettingsError(f"peer.{name}", None, "what a peer of the same transport has")
    return value
