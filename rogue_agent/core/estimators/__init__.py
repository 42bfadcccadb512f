"""RTT estimators by name; a new one is a class in this package and a line in the registry."""

from rogue.agent.core.errors import SettingsError
from rogue.agent.core.estimators.ablations import Literal, NicTxStamp, Noisy
from rogue.agent.core.estimators.base import RttEstimator
from rogue.agent.core.estimators.drained import Drained, DrainedFollowers
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
    """Return the estimator of the settings with their noise, None for none.

    Raises SettingsError if it needs a missing instrument.
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
