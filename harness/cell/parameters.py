"""The agent's settings, from what an experiment file says about a transport."""

from collections.abc import Mapping

from rogue.agent.core.errors import ContradictionError, SettingsError
from rogue.agent.core.settings import TransportSettings
from rogue.agent.core.transports import parameter_names, settings_for
from rogue.harness.cell.driver_options import without_options
from rogue.harness.cell.mistakes import ParameterError, ParameterMistake
from rogue.harness.experiment.choices import Scalar
from rogue.workloads.spelling import meant
from rogue.workloads.units import QUANTITY_OF_SUFFIX, UnitError


def agent_settings(
    name: str, line_rate_bps: int, parameters: Mapping[str, Scalar], others: tuple[str, ...] = ()
) -> TransportSettings:
    """Settings of a transport; ParameterError names the first parameter that does not fit.

    A parameter has its unit in the value, not in the key: `base_rtt_floor: 25us` is the agent's
    `base_rtt_floor_ns`. The error also names `others`, which somebody else takes.
    """
    try:
        return settings_for(name, line_rate_bps, agent_overrides(name, line_rate_bps, parameters, others))
    except ContradictionError as error:
        raise ParameterError(_contradiction(error, parameters)) from error
    except SettingsError as error:
        key = as_written(error.key)
        raise ParameterError(ParameterMistake(key, error.expected, "correct the value")) from error


def _contradiction(error: ContradictionError, parameters: Mapping[str, Scalar]) -> ParameterMistake:
    """Blames the one of two parameters that the file states."""
    key, bound_key = as_written(error.key), as_written(error.bound_key)
    if key in parameters:
        expected = f"up to {bound_key}, {_with_unit(error.bound_key, error.bound)}"
        return ParameterMistake(key, expected, f"lower it, or raise {bound_key}")
    expected = f"at least {key}, {_with_unit(error.key, error.got)}"
    return ParameterMistake(bound_key, expected, f"raise it, or lower {key}")


def _with_unit(name: str, value: object) -> str:
    return f"{value:.15g}{name.removeprefix(as_written(name)).replace('_', ' ')}"


def agent_overrides(
    name: str, line_rate_bps: int, parameters: Mapping[str, Scalar], others: tuple[str, ...] = ()
) -> dict[str, Scalar]:
    """The same parameters by the agent's own names, in base units; without options of its driver."""
    own = without_options(parameters)
    choosing: dict[str, Scalar] = {key: own[key] for key in ("cc", "estimator") if key in own}
    known = (*others, *parameter_names(settings_for(name, line_rate_bps, choosing)))
    rest = {key: value for key, value in own.items() if key not in choosing}
    return {**choosing, **dict(translated(key, value, known) for key, value in rest.items())}


def translated(key: str, value: Scalar, known: tuple[str, ...]) -> tuple[str, Scalar]:
    """Name and value as the agent wants them."""
    for suffix, quantity in QUANTITY_OF_SUFFIX.items():
        if key + suffix in known:
            try:
                return key + suffix, quantity.parse(value)
            except UnitError as error:
                raise ParameterError(ParameterMistake(key, error.expected, error.advice)) from error
    if key not in known or as_written(key) != key:
        names = [as_written(name) for name in known]
        expected = f"one of the parameters {', '.join(names)}"
        raise ParameterError(ParameterMistake(key, expected, meant(key, names)))
    return key, value


def as_written(name: str) -> str:
    """The agent's name for a parameter, as an experiment file has it."""
    for suffix in QUANTITY_OF_SUFFIX:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name
