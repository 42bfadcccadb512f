"""RTT estimators by name: a new one is a file here and a line in the registry."""

from rogue.agent.core.errors import SettingsError
from rogue.agent.core.estimators.base import RttEstimator
from rogue.agent.core.estimators.drained import Drained
from rogue.agent.core.estimators.drained_followers import DrainedFollowers
from rogue.agent.core.estimators.literal import Literal
from rogue.agent.core.estimators.nic_tx_stamp import NicTxStamp
from rogue.agent.core.estimators.noisy import Noisy
from rogue.agent.core.estimators.uc import Uc
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.settings import Instruments, TransportSettings

__all__ = ["ESTIMATORS", "RttEstimator", "build_estimator"]

ESTIMATORS: dict[str, type[RttEstimator]] = {
    "drained": Drained,
    "drained_followers": DrainedFollowers,
    "literal": Literal,
    "nic_tx_stamp": NicTxStamp,
    "uc": Uc,
}


def build_estimator(
    settings: TransportSettings, link: LinkFacts, instruments: Instruments
) -> RttEstimator | None:
    """Return the estimator that the settings name, None for none, with the noise that they ask for.

    Raises SettingsError if it needs an instrument that is not there.
    """
    if settings.estimator is None:
        return None
    kind = ESTIMATORS[settings.estimator]
    if kind.is_oracle and instruments.left_ns is None:
        raise SettingsError("estimator", settings.estimator, "one that uses only what verbs expose")
    if kind.needs_batch_acknowledgements and not settings.has_batch_acknowledgements:
        raise SettingsError("estimator", settings.estimator, "one for a reliable connection")
    estimator = kind(link.line_rate_bps, instruments)
    if settings.rtt_noise_ns == 0:
        return estimator
    if instruments.random is None:
        raise SettingsError("rtt_noise_ns", settings.rtt_noise_ns, "0 where there is no random stream")
    return Noisy(estimator, settings.rtt_noise_ns, instruments.random)
