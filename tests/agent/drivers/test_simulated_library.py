"""The library inside a simulation: when it acts, and what it does with nonsense."""

import pytest
from helpers.fake_network import DELAY_NS, FakeDatagrams, FakeNetwork

from rogue.agent.core.immediates import batch_immediate, batch_of, rate_immediate
from rogue.agent.core.resync import Resync, Resynced, decode, encode
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.simulated_path import PROCESSING_NS, SimulatedLibrary, SimulatedPath, open_path

GBPS = 10**9


def served(transport: str) -> tuple[FakeNetwork, SimulatedPath, SimulatedLibrary]:
    network = FakeNetwork()
    path = open_path(network, "a", "b", settings=settings_for(transport, 10 * GBPS, {}), mtu_bytes=1024)
    for requester, _ in path.pairs:
        requester.attach(lambda now, entries: None, lambda now, state: None)
    return network, path, SimulatedLibrary(network, path)


def test_a_rate_is_applied_a_little_later_to_the_passive_end() -> None:
    network, path, _ = served("rogue")
    requester, passive = path.main
    requester.post_write(1, 0, False, imm=rate_immediate(3 * GBPS))
    arrival_ns = round(102 * 8 / 10) + DELAY_NS
    network.run_until(arrival_ns + PROCESSING_NS - 1)
    assert vars(passive)["rate_bps"] == 10 * GBPS
    network.run_until(arrival_ns + PROCESSING_NS)
    assert vars(passive)["rate_bps"] == 3 * GBPS


def test_an_acknowledgement_over_uc_says_how_long_the_library_took() -> None:
    network, path, _ = served("rogue-uc")
    acknowledgements: list[int | None] = []
    requester, _ = path.main
    requester.attach(
        lambda now, entries: None,
        lambda now, state: None,
        lambda now, entries: acknowledgements.extend(imm for *_, imm in entries),
    )
    requester.post_write(1, 1000, True, imm=batch_immediate(5))
    network.run_until(GBPS)
    (imm,) = acknowledgements
    assert imm is not None
    assert batch_of(imm) == (5, PROCESSING_NS)


def test_a_request_resets_the_passive_end_and_has_a_reply() -> None:
    network, path, _ = served("rogue")
    assert path.side_channel is not None
    requester, library = path.side_channel
    heard: list[bytes] = []
    requester.attach(lambda now, datagrams: heard.extend(payload for *_, payload in datagrams))
    _, passive = path.main
    assert path.seal is not None
    requester.post_send(0, library, encode(Resync(1, passive.qp_num, 0), path.seal))
    network.run_until(GBPS)
    assert decode(heard[0], path.seal) == Resynced(1)
    assert (vars(passive)["rq_psn"], vars(passive)["sq_psn"]) == path.seal.psns(1)


@pytest.mark.parametrize("payload", [b"", b"x" * 40])
def test_nonsense_is_dropped_and_kept(payload: bytes) -> None:
    network, path, library = served("rogue")
    assert path.side_channel is not None
    requester, at_library = path.side_channel
    assert isinstance(requester, FakeDatagrams)
    requester.post_send(0, at_library, payload)
    network.run_until(GBPS)
    assert len(library.mistakes) == 1


def test_messages_of_the_application_are_counted() -> None:
    network, path, library = served("rogue")
    requester, _ = path.main
    for wr_id, size_bytes in enumerate((10, 20, 30)):
        requester.post_send(wr_id, size_bytes, False)
    network.run_until(GBPS)
    assert (library.delivered_messages, library.delivered_bytes) == (3, 60)
