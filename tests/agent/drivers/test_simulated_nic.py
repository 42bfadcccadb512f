"""The face of the NIC that the driver is written against, and who offers it."""

import pytest
from helpers.fake_network import FakeDatagrams, FakeNetwork, FakeQueuePair

from rogue.agent.drivers.simulated_nic import Fabric, NicDatagrams, NicQueuePair, SimulatedTime
from rogue.simulator import QueuePair, Simulation


def members(face: type) -> set[str]:
    return {name for each in face.__mro__ for name in vars(each) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("face", "fake"), [(NicQueuePair, FakeQueuePair), (NicDatagrams, FakeDatagrams), (Fabric, FakeNetwork)]
)
def test_the_fake_network_offers_it_all(face: type, fake: type) -> None:
    offered = members(fake) | set(fake.__dataclass_fields__ if hasattr(fake, "__dataclass_fields__") else ())
    assert members(face) <= offered


def test_the_engine_offers_what_a_flow_of_writes_needs() -> None:
    assert members(SimulatedTime) <= members(Simulation)
    needed = {"qp_num", "retransmitted_bytes", "attach", "nic_clock_ns", "post_write", "set_rate"}
    assert needed <= members(NicQueuePair)
    assert needed <= members(QueuePair)
