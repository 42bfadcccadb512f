"""Does a run do what a claim is about? A sentence if it does not."""

from pydantic import JsonValue

from rogue.reports.claims.claim import Claim, Condition
from rogue.reports.claims.parameters import FACTS, is_same_parameter, parameter_value, transport_parameters
from rogue.reports.quantities import Unit, duration_text, joined, quantity_text, size_text
from rogue.reports.results import Results, Setting


def mismatch(claim: Claim, results: Results, setting: Setting) -> str | None:
    """Return why a claim does not apply to a setting, or None if it does."""
    reason = _unspoken_of(claim, results, setting)
    if reason:
        return reason
    finished = bool(results.views_of(setting))
    for condition in claim.conditions:
        if condition.parameter.startswith(FACTS) and not finished:
            continue  # nobody knows, and that no cell finished is the better reason
        reason = _broken(condition, parameter_value(results, setting, condition.parameter))
        if reason:
            return reason
    return None


def _unspoken_of(claim: Claim, results: Results, setting: Setting) -> str | None:
    """Return what the run does that the claim does not speak of: own parameters, factors, faults."""
    spoken_of = [condition.parameter for condition in claim.conditions]

    def is_spoken_of(key: str) -> bool:
        return any(is_same_parameter(key, parameter) for parameter in spoken_of)

    own = transport_parameters(results, setting)
    if setting.transport != setting.registry_name and not own:
        return f"{setting.transport} runs with parameters of its own, the claim with the published ones"
    for key in own:
        if not is_spoken_of(f"transport.{key}"):
            return f"{setting.transport} runs with its own {key}, the claim with the published one"
    for key, _ in setting.factors:
        if not is_spoken_of(key):
            return f"the run varies {key}, about which the claim says nothing"
    if results.run.manifest.experiment.get("faults") and not any(p.startswith("faults") for p in spoken_of):
        return "the run has faults, about which the claim says nothing"
    return None


def _broken(condition: Condition, value: JsonValue) -> str | None:
    """Return the sentence that says which demand a value breaks, or None."""
    parameter = condition.parameter
    if value is None:
        return f"{parameter} is not set in this run; the claim needs {_demand(condition)}"
    if _holds(condition, value):
        return None
    return f"{parameter} is {_written(parameter, value)} in this run; the claim needs {_demand(condition)}"


def _holds(condition: Condition, value: JsonValue) -> bool:
    if condition.equals is not None:
        return value == condition.equals
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    low, high = condition.at_least, condition.at_most
    return (low is None or value >= low) and (high is None or value <= high)


def _demand(condition: Condition) -> str:
    limits = [("at least", condition.at_least), ("at most", condition.at_most)]
    words = [f"{word} {_written(condition.parameter, value)}" for word, value in limits if value is not None]
    return joined(words) or _written(condition.parameter, condition.equals)


def _written(parameter: str, value: JsonValue) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if parameter.endswith("_ns"):
            return duration_text(value)
        if parameter.endswith("_bytes"):
            return size_text(value)
        if parameter.endswith("_bps"):
            return quantity_text(value, Unit.RATE)
    return str(value)
