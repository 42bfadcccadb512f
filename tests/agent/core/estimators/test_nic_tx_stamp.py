"""The oracle: what the simulator knows, and no formula."""

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.estimators.nic_tx_stamp import NicTxStamp
from rogue.agent.core.settings import Instruments
from rogue.agent.core.window import Batch


def test_worked_example() -> None:
    """The last byte left at 1000.5 ns and the completion came at 63 000: 61 999.5 ns, whatever the rate."""
    estimator = NicTxStamp(10**10, Instruments(left_ns={7: 1000.5}.__getitem__))
    batch = Batch()
    batch.wr_id = 7
    assert estimator.sample(batch, NicNs(63_000)) == 61_999.5
    estimator.on_rate_change()
    assert estimator.sample(batch, NicNs(63_000)) == 61_999.5


def test_it_is_labelled() -> None:
    assert NicTxStamp.is_oracle
