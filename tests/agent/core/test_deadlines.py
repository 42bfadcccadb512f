from rogue.agent.core.clocks import Deadline, DeadlineReason, HostNs


def test_a_deadline_tells_its_reason_in_words() -> None:
    deadline = Deadline(HostNs(5), DeadlineReason.RESYNC)
    assert deadline.host_ns == 5
    assert deadline.reason.value == "the peer's reply about a lost queue pair"
