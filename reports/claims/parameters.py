"""What a run's parameters are at one factor point, by dotted path and in base units."""

import re
from typing import Final

from pydantic import JsonValue

from rogue.reports.results import Results, Setting
from rogue.workloads.units import QUANTITY_OF_SUFFIX, UnitError

# A parameter of the measurement itself, which no experiment file names.
INTERVAL: Final = "measured.interval_ns"
# Before what a testbed found out while it ran.
FACTS: Final = "facts."
_PART: Final = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_OF_A_TRANSPORT: Final = re.compile(r"^transports\[\d+\]\.")


def parameter_value(results: Results, setting: Setting, parameter: str) -> JsonValue:
    """Return a parameter: from the factor point, else the transport or the experiment; None if not there."""
    if parameter == INTERVAL:
        return results.interval_ns
    entry = setting.entries[0]
    if parameter.startswith(FACTS):
        done = results.views_of(setting)
        return (done[0].entry if done else entry).facts.get(parameter.removeprefix(FACTS))
    for key, value in entry.factors.items():
        if is_same_parameter(key, parameter):
            return _in_base_units(parameter, value)
    for key, value in transport_parameters(results, setting).items():
        if is_same_parameter(f"transport.{key}", parameter):
            return _in_base_units(parameter, value)
    found: JsonValue = results.run.manifest.experiment
    for name, index in _PART.findall(parameter):
        if index:
            found = found[int(index)] if isinstance(found, list) and int(index) < len(found) else None
        else:
            found = found.get(name) if isinstance(found, dict) else None
    return found


def transport_parameters(results: Results, setting: Setting) -> dict[str, JsonValue]:
    """Return the parameters, as written, that the experiment sets for a setting's transport."""
    choices = results.run.manifest.experiment.get("transports")
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict) and choice.get("label") == setting.transport:
            parameters = choice.get("parameters")
            return dict(parameters) if isinstance(parameters, dict) else {}
    return {}


def is_same_parameter(key: str, parameter: str) -> bool:
    """A factor is written as in the experiment file: `workload.size` sets `workload.size_bytes`.

    `transports[0].rtt_noise` sets `transport.rtt_noise_ns` of whatever transport a cell has.
    """
    key = _OF_A_TRANSPORT.sub("transport.", key)
    return key == parameter or any(key + suffix == parameter for suffix in QUANTITY_OF_SUFFIX)


def _in_base_units(parameter: str, value: JsonValue) -> JsonValue:
    for suffix, quantity in QUANTITY_OF_SUFFIX.items():
        if parameter.endswith(suffix) and isinstance(value, str):
            try:
                return quantity.parse(value)
            except UnitError:
                return value
    return value
