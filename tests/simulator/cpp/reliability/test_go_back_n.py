"""Go-back-N and its kinds: when a gap is told, what duplicates lead to, how far the sender goes back."""

from rogue.simulator._core import Requester, Responder

US = 1_000_000


def sender(packets: int, **parameters: float) -> Requester:
    requester = Requester("irn-gbn", mtu_bytes=1024, parameters=parameters)
    requester.post(packets * 1024)
    return requester


def test_what_comes_early_is_refused_once_per_gap() -> None:
    responder = Responder("irn-gbn", mtu_bytes=1024)
    kinds = []
    for number in (0, 2, 3, 0, 4, 1, 3, 2):
        acks = responder.on_packet(number)
        kinds.append([(ack["is_negative"], ack["expected"]) for ack in acks])
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
    assert (requester.retransmitted_packets, requester.recoveries) == (3, 1)


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


NAK, ACK = True, False


def kinds(name: str, packets: list[tuple[int, int]]) -> list[list[tuple[bool, int]]]:
    """What acknowledges packets at instants in microseconds."""
    responder = Responder(name, mtu_bytes=1024)
    return [
        [(each["is_negative"], each["expected"]) for each in responder.on_packet(number, now_ps=at_us * US)]
        for number, at_us in packets
    ]


def test_a_gap_is_told_again_after_500_us() -> None:
    packets = [(0, 0), (2, 1), (3, 500), (4, 501), (5, 502), (1, 600), (3, 601)]
    told = [[(ACK, 1)], [(NAK, 1)], [], [(NAK, 1)], [], [(ACK, 2)], [(NAK, 2)]]
    assert kinds("go-back-n-hpcc", packets) == kinds("go-back-n-conweave", packets) == told


def test_a_gap_is_told_with_each_packet() -> None:
    assert kinds("go-back-n-htsim", [(1, 0), (2, 0), (1, 0)]) == [[(NAK, 0)]] * 3


def test_duplicates_are_acknowledged_or_not() -> None:
    assert kinds("go-back-n-hpcc", [(0, 0), (0, 0)]) == [[(ACK, 1)], []]
    assert kinds("go-back-n-conweave", [(0, 0), (0, 0)]) == [[(ACK, 1)], [(ACK, 1)]]


def test_go_back_0_forgets_the_message_at_a_gap() -> None:
    responder = Responder("go-back-0", mtu_bytes=1024)
    trace = [
        (0, False, []),
        (1, True, [(ACK, 2)]),  # a message of two
        (2, False, []),
        (3, False, []),
        (5, True, [(NAK, 2)]),  # 4 is lost
        (3, False, []),
        (2, False, []),
        (3, False, []),
        (4, False, []),
        (5, True, [(ACK, 6)]),
        (5, True, [(ACK, 6)]),
    ]
    for number, is_last, expected in trace:
        acks = responder.on_packet(number, is_last=is_last)
        assert [(each["is_negative"], each["expected"]) for each in acks] == expected, number
    assert responder.delivered_bytes == 6 * 1024


def test_go_back_0_sends_the_whole_message_again() -> None:
    requester = Requester("go-back-0", mtu_bytes=1024)
    requester.post(2 * 1024)
    requester.post(4 * 1024)
    assert [requester.send(0) for _ in range(6)] == [0, 1, 2, 3, 4, 5]
    requester.on_acknowledgement(now_ps=0, expected=2)
    requester.on_acknowledgement(now_ps=0, expected=2, selective=[(5, 6)], is_negative=True)
    assert [requester.send(0) for _ in range(5)] == [2, 3, 4, 5, None]
