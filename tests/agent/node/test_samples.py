"""What stays the same is written once."""

from rogue.agent.node.queue_samples import QueueReading, Samples


def test_a_sample_says_how_many_more_were_the_same() -> None:
    samples = Samples()
    samples.add(10, {"s0->h0": QueueReading(500, 3, 1, 99), "s0->h1": QueueReading()})
    samples.add(20, {"s0->h0": QueueReading()})
    samples.repeat(4)
    samples.repeat(3)
    samples.add(100, {})
    assert samples.text().splitlines() == [
        "port,t_ns,bytes,drops,marks,repeats",
        "s0->h0,10,500,3,1,0",
        "s0->h1,10,0,0,0,0",
        "s0->h0,20,0,0,0,7",
    ]
