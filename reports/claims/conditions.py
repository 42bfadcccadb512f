"""Does a run do what a claim is about? A sentence if it does not."""

from pydantic import JsonValue

from reports.claims.claim import Claim, Condition
from reports.quantities import Unit, duration_text, quantity_text, size_text
from reports.results import Results, Setting
from workloads.units import QUANTITY_OF_SUFFIX, UnitError

# Parameters of the measurement itself, which no experiment file names.
INTERVAL = "measured.interval_ns"
NIC_PROFILE = "facts.nic_profile"


def mismatch(claim: Claim, results: Results, setting: Setting) -> str | None:
    """Return why a claim does not apply to a setting, or None if it does."""
    if setting.transport != setting.registry_name:
        return f"{setting.transport} runs with parameters of its own, the claim with the published ones"
    spoken_of = {condition.parameter for condition in claim.conditions}
    for key, _ in setting.factors:
        if not any(_same_parameter(key, parameter) for parameter in spoken_of):
            return f"the run varies {key}, about which the claim says nothing"
    for condition in claim.conditions:
        reason = _broken(condition, parameter_value(results, setting, condition.parameter))
        if reason:
            return reason
    return None


def parameter_value(results: Results, setting: Setting, parameter: str) -> JsonValue:
    """Return a parameter in base units: from the factor point, else the experiment; None if not there."""
    if parameter == INTERVAL:
        return results.interval_ns
    entry = setting.entries[0]
    if parameter.startswith("facts."):
        done = results.views_of(setting)
        return (done[0].entry if done else entry).facts.get(parameter.removeprefix("facts."))
    for key, value in entry.factors.items():
        if _same_parameter(key, parameter):
            return _in_base_units(parameter, value)
    found: JsonValue = results.run.manifest.experiment
    for part in parameter.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _same_parameter(key: str, parameter: str) -> bool:
    """A factor is written as in the experiment file: `workload.size` sets `workload.size_bytes`."""
    return key == parameter or any(key + suffix == parameter for suffix in QUANTITY_OF_SUFFIX)


def _in_base_units(parameter: str, value: JsonValue) -> JsonValue:
    for suffix, quantity in QUANTITY_OF_SUFFIX.items():
        if parameter.endswith(suffix) and isinstance(value, str):
            try:
                return quantity.parse(value)
            except UnitError:
                return value
    return value


def _broken(condition: Condition, value: JsonValue) -> str | None:
    """Return the sentence that says which demand a value breaks, or None."""
    parameter = condition.parameter
    if value is None:
        return f"{parameter} is not set in this run; the claim needs {_demand(condition)}"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if condition.at_least is not None:
        holds = number and float(str(value)) >= condition.at_least
    else:
        holds = value == condition.equals
    if holds:
        return None
    return f"{parameter} is {_written(parameter, value)} in this run; the claim needs {_demand(condition)}"


def _demand(condition: Condition) -> str:
    if condition.at_least is not None:
        return f"at least {_written(condition.parameter, condition.at_least)}"
    return _written(condition.parameter, condition.equals)


def _written(parameter: str, value: JsonValue) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if parameter.endswith("_ns"):
            return duration_text(value)
        if parameter.endswith("_bytes"):
            return size_text(value)
        if parameter.endswith("_bps"):
            return quantity_text(value, Unit.RATE)
    return str(value)
