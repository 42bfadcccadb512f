"""Transports by name, and the conversion of a user's overrides into settings."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace

from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.estimators import ESTIMATORS
from rogue.agent.core.limiter import LINE_RATE_BPS_SMALL_SEGMENTS_MAX
from rogue.agent.core.parameters import override
from rogue.agent.core.settings import TransportSettings

SEGMENT_BYTES_40G = 65_536
SEGMENT_BYTES_100G = 262_144
NATIVE_SEGMENT_BYTES = 1_048_576


def rogue(line_rate_bps: int) -> TransportSettings:
    """RoGUE over RC: Vegas on drained RTT samples, one hardware retry.

    Source: RoGUE, sections 3.1 (segment sizes), 3.3 (hold-off, bounded change) and 3.5 (retry count).
    """
    is_small = line_rate_bps <= LINE_RATE_BPS_SMALL_SEGMENTS_MAX
    return TransportSettings(
        transport="rogue",
        service="rc",
        cc="vegas",
        cc_parameters=CONGESTION_CONTROLS["vegas"].for_line_rate(line_rate_bps),
        estimator="drained_followers",
        segment_bytes=SEGMENT_BYTES_40G if is_small else SEGMENT_BYTES_100G,
        retry_count=1,
        has_shadow=True,
    )


def roce(line_rate_bps: int) -> TransportSettings:
    """Native RoCE: two 1 MiB verbs posted, no control, all the hardware retries.

    Source: RoGUE, section 5.1 (1 MB verbs).
    """
    return TransportSettings(
        transport="roce",
        service="rc",
        cc="fixed",
        cc_parameters=CONGESTION_CONTROLS["fixed"].for_line_rate(line_rate_bps),
        estimator=None,
        segment_bytes=NATIVE_SEGMENT_BYTES,
        retry_count=7,
    )


def rogue_uc(line_rate_bps: int) -> TransportSettings:
    """RoGUE over UC: the peer's library acknowledges each batch; lost bytes are not sent again.

    Source: RoGUE, section 3.4.
    """
    return replace(rogue(line_rate_bps), transport="rogue-uc", service="uc", estimator="uc", has_shadow=False)


def roce_uc(line_rate_bps: int) -> TransportSettings:
    """Native RoCE over UC: two 1 MiB verbs posted, without a check that they arrive."""
    return replace(roce(line_rate_bps), transport="roce-uc", service="uc")


CHOICES = ("cc", "estimator")
"""Overrides that select an algorithm."""

TRANSPORTS: dict[str, Callable[[int], TransportSettings]] = {
    "rogue": rogue,
    "rogue-uc": rogue_uc,
    "roce": roce,
    "roce-uc": roce_uc,
}


def settings_for(transport: str, line_rate_bps: int, overrides: Mapping[str, object]) -> TransportSettings:
    """Return a transport's settings at a line rate, with parameters replaced by name.

    A key is `cc`, `estimator`, or one of `parameter_names`. Raises SettingsError(key, got, expected).
    """
    choices = {key: overrides[key] for key in CHOICES if key in overrides}
    rest = {key: overrides[key] for key in overrides if key not in CHOICES}
    return with_parameters(chosen_settings(transport, line_rate_bps, choices), rest)


def chosen_settings(transport: str, line_rate_bps: int, choices: Mapping[str, object]) -> TransportSettings:
    """Return a transport's defaults at a line rate with another `cc` or `estimator`.

    These two determine the parameters. Raises SettingsError(key, got, expected).
    """
    settings = TRANSPORTS[_one_of("transport", transport, TRANSPORTS)](line_rate_bps)
    if "cc" in choices:
        cc = _one_of("cc", choices["cc"], CONGESTION_CONTROLS)
        cc_parameters = CONGESTION_CONTROLS[cc].for_line_rate(line_rate_bps)
        settings = replace(settings, cc=cc, cc_parameters=cc_parameters)
    if "estimator" in choices:
        estimator = _one_of("estimator", choices["estimator"], ESTIMATORS)
        settings = replace(settings, estimator=estimator)
    kind = None if settings.estimator is None else ESTIMATORS[settings.estimator]
    if kind is not None and kind.needs_batch_acknowledgements and not settings.has_batch_acknowledgements:
        raise SettingsError(
            "estimator", settings.estimator, f"one for {transport}, whose service is reliable"
        )
    return settings


def with_parameters(settings: TransportSettings, parameters: Mapping[str, object]) -> TransportSettings:
    """Return the settings with parameters replaced by name.

    A key is a field of TransportSettings or of the congestion control's parameters. Raises
    SettingsError(key, got, expected).
    """
    known = parameter_names(settings)
    for key, value in parameters.items():
        if key not in known:
            raise SettingsError(key, value, f"a parameter of {settings.transport}: one of {', '.join(known)}")
    of_cc = {each.name for each in fields(settings.cc_parameters)}
    cc_parameters = override(
        settings.cc_parameters, {key: parameters[key] for key in parameters if key in of_cc}
    )
    return override(
        replace(settings, cc_parameters=cc_parameters),
        {key: parameters[key] for key in parameters if key not in of_cc},
    )


def parameter_names(settings: TransportSettings) -> tuple[str, ...]:
    """Return every key that `with_parameters` takes for these settings, in order."""
    fixed = {"transport", "service", "cc_parameters"}
    own = {each.name for each in fields(settings)} - fixed
    return tuple(sorted(own | {each.name for each in fields(settings.cc_parameters)}))


def _one_of(key: str, name: object, registry: Iterable[str]) -> str:
    """Return the name if it is registered."""
    names = list(registry)
    if not isinstance(name, str) or name not in names:
        raise SettingsError(key, name, f"one of {', '.join(sorted(names))}")
    return name
