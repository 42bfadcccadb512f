"""IRN's ablation: go-back-N with IRN's cap and timer."""

from simulator._core import Requester, Responder

US = 1_000_000


def sender(packets: int, **parameters: float) -> Requester:
    requester = Requester("irn-gbn", mtu_bytes=1024, parameters=parameters)
    requester.post(packets * 1024)
    return requester


def test_what_comes_early_is_refused_once_per_gap() -> None:
    responder = Responder("irn-gbn", mtu_bytes=1024)
    kinds = []
    for number in (0, 2, 3, 0, 4, 1, 3, 2):
        answers = responder.on_packet(number)
        kinds.append([(answer["is_negative"], answer["expected"]) for answer in answers])
    assert kinds == [
        [(False, 1)],
        [(True, 1)],
        [],
        [(False, 1)],
        [],
        [(False, 2)],
        [(True, 2)],
        [(False, 3)],
    ]
    assert responder.delivered_bytes == 3 * 1024


def test_everything_from_the_gap_on_is_sent_again() -> None:
    requester = sender(6, cap_packets=5)
    assert [requester.send(0) for _ in range(6)] == [0, 1, 2, 3, 4, None]
    requester.on_acknowledgement(now_ps=0, expected=2)
    requester.on_acknowledgement(now_ps=0, expected=2, selective=[(3, 4)], is_negative=True)
    assert [requester.send(0) for _ in range(5)] == [2, 3, 4, 5, None]
    assert requester.retransmitted_packets == 3


def test_a_stale_negative_acknowledgement_says_nothing() -> None:
    requester = sender(4)
    assert [requester.send(0) for _ in range(4)] == [0, 1, 2, 3]
    requester.on_acknowledgement(now_ps=0, expected=3)
    requester.on_acknowledgement(now_ps=0, expected=1, selective=[(2, 3)], is_negative=True)
    assert requester.send(0) is None


def test_the_timeout_goes_back_too() -> None:
    requester = sender(3)
    assert [requester.send(0) for _ in range(3)] == [0, 1, 2]
    assert requester.deadline_ps == 100 * US
    requester.on_deadline(100 * US)
    assert [requester.send(0) for _ in range(4)] == [0, 1, 2, None]
