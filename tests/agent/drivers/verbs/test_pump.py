from helpers.fake_verbs_device import Context
from helpers.fake_verbs_queues import WorkCompletion
from helpers.ticking_clock import TickingClock

from rogue.agent.core.actions import Completion
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.verbs import clock
from rogue.agent.drivers.verbs.completion_queue import CompletionPump, EventQueue
from rogue.agent.drivers.verbs.pyverbs import Pyverbs


def test_everything_in_the_queue_is_handed_over_and_then_the_end_is_said(pyverbs: Pyverbs) -> None:
    queue = EventQueue(pyverbs, Context("rxe0"), 128, clock.nic_ns)
    taken: list[int] = []
    said: list[str] = []

    def take(_now: HostNs, completions: list[Completion]) -> None:
        taken.extend(entry[0] for entry in completions)
        said.append("poll")
        if len(said) == 1:
            queue.cq.push(WorkCompletion(99, 0))

    for wr_id in range(40):
        queue.cq.push(WorkCompletion(wr_id, 0))
    pump = CompletionPump(queue, TickingClock().read, take, lambda _now: said.append("empty"))
    pump.on_ready(HostNs(0))
    assert taken == [*range(40), 99]
    assert said == ["poll", "poll", "empty"]
    assert (pump.spent.events, pump.spent.polls) == (1, 2)
    queue.close()


def test_the_time_is_told_apart(pyverbs: Pyverbs) -> None:
    queue = EventQueue(pyverbs, Context("rxe0"), 128, clock.nic_ns)
    queue.cq.push(WorkCompletion(1, 0))
    pump = CompletionPump(queue, TickingClock().read, lambda _now, _entries: None, lambda _now: None)
    pump.on_ready(HostNs(0))
    assert (pump.spent.rearming_ns, pump.spent.polling_ns, pump.spent.deciding_ns) == (1_000, 2_000, 2_000)
    queue.close()
