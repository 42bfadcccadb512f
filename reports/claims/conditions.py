"""Check whether a run meets the conditions of a claim."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import yaml
from pydantic import JsonValue

from rogue.reports.claims.claim import Claim, Condition, Reference
from rogue.reports.metrics.statistics import MeanInterval, mean_interval
from rogue.reports.quantities import Unit, duration_text, joined, quantity_text, size_text
from rogue.reports.reading.files import differences
from rogue.reports.results import Results, Setting, factor_name
from rogue.reports.transport_styles import style_of
from rogue.workloads.manifest import Manifest
from rogue.workloads.shipped import shipped
from rogue.workloads.units import QUANTITY_OF_SUFFIX, UnitError

# A parameter of the measurement itself, which no experiment file names.
INTERVAL: Final = "measured.interval_ns"
# Prefix of facts that a testbed recorded.
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
    """Return the parameters, as written, that the experiment sets for a setting's transport.

    `variant: defaults` sets none: it keeps the published values at any line rate.
    """
    choices = results.run.manifest.experiment.get("transports")
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict) and choice.get("label") == setting.transport:
            parameters = choice.get("parameters")
            own = parameters if isinstance(parameters, dict) else {}
            return {key: value for key, value in own.items() if (key, value) != ("variant", "defaults")}
    return {}


def is_same_parameter(key: str, parameter: str) -> bool:
    """True if a factor, written as in the experiment file, sets a parameter.

    `workload.size` sets `workload.size_bytes`, and `transports[0].rtt_noise` sets `transport.rtt_noise_ns`.
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


def mismatch(claim: Claim, results: Results, setting: Setting) -> str | None:
    """Return why a claim does not apply to a setting, or None if it does."""
    reason = _unspoken_of(claim, results, setting)
    if reason:
        return reason
    finished = bool(results.views_of(setting))
    for condition in claim.conditions:
        if condition.parameter.startswith(FACTS) and not finished:
            continue  # the fact is unknown, and that no cell finished is the better reason
        reason = _broken(condition, parameter_value(results, setting, condition.parameter))
        if reason:
            return reason
    return None


def _unspoken_of(claim: Claim, results: Results, setting: Setting) -> str | None:
    """Return a parameter, factor or fault of the run that the claim does not mention."""
    spoken_of = [condition.parameter for condition in claim.conditions]

    def is_spoken_of(key: str) -> bool:
        return any(is_same_parameter(key, parameter) for parameter in spoken_of)

    own = transport_parameters(results, setting)
    if setting.transport != setting.registry_name and not own:
        return f"{setting.transport} runs with its own parameters, the claim with the published ones"
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
    """Return a sentence about the condition that a value violates, or None."""
    parameter = condition.parameter
    if value is None:
        return f"{parameter} is not set in this run; the claim needs {_demand(condition)}"
    if _holds(condition, value):
        return None
    return f"{parameter} is {_written(parameter, value)} in this run; the claim needs {_demand(condition)}"


def _holds(condition: Condition, value: JsonValue) -> bool:
    if condition.equals is not None:
        return value in (condition.equals if isinstance(condition.equals, tuple) else (condition.equals,))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    low, high = condition.at_least, condition.at_most
    return (low is None or value >= low) and (high is None or value <= high)


def _demand(condition: Condition) -> str:
    limits = [("at least", condition.at_least), ("at most", condition.at_most)]
    words = [f"{word} {_written(condition.parameter, value)}" for word, value in limits if value is not None]
    if isinstance(condition.equals, tuple):
        return f"one of {', '.join(_written(condition.parameter, value) for value in condition.equals)}"
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


EXPERIMENTS: Final = shipped("experiments")
"""The experiments that come with this package."""
PAPER_SCALE: Final = "paper"
FREE: Final = frozenset(
    (
        "name",
        "title",
        "question",
        "seed",
        "repetitions",
        "transports",
        "measure",
        "factors",
        "scale",
        "scales",
    )
)
"""Keys that are no conditions, or that the claim's own conditions cover: transports and factors."""
_DIFFERENCES_NAMED_MAX: Final = 3


def other_experiment(claim: Claim, manifest: Manifest) -> str | None:
    """Return why a run is not an experiment of the claim; None if it is one."""
    if not claim.experiments:
        return "no shipped experiment was written for the claim"
    name = experiment_name(manifest.source.file)
    if name in claim.experiments:
        return None
    own = joined(list(claim.experiments))
    return f"this run is {name or manifest.name}, the claim’s own experiment is {own}"


def other_conditions(manifest: Manifest) -> str | None:
    """Return how a run of a shipped experiment differs from it; None if it does not."""
    scale = manifest.experiment.get("scale", PAPER_SCALE)
    if scale != PAPER_SCALE:
        return f"this run has the scale {scale} instead of {PAPER_SCALE}"
    name = experiment_name(manifest.source.file) or ""
    changed = changed_keys(name, manifest)
    more = "" if len(changed) <= _DIFFERENCES_NAMED_MAX else " and more"
    named = joined(changed[:_DIFFERENCES_NAMED_MAX])
    return f"this run differs from {name} in {named}{more}" if changed else None


def experiment_name(file: str | None) -> str | None:
    """Return a file's path below `experiments/`, without its ending: `rogue-paper/incast`."""
    if not file:
        return None
    parts = Path(file).with_suffix("").parts
    if EXPERIMENTS.name in parts:
        last = max(place for place, part in enumerate(parts) if part == EXPERIMENTS.name)
        parts = parts[last + 1 :]
    return "/".join(parts) or None


def changed_keys(name: str, manifest: Manifest) -> list[str]:
    """Return the conditions in which a run differs from the shipped experiment of its name.

    It compares the content of the files; without them it uses the options of the command.
    """
    shipped, written = shipped_experiment(name), manifest.source.data
    if shipped is None or not written:
        keys = (setting.partition("=")[0] for setting in manifest.source.set)
        return [key for key in keys if key.partition(".")[0].partition("[")[0] not in FREE]
    keys = (place for place, *_ in differences(shipped, written))
    return [key for key in keys if key.partition(".")[0].partition("[")[0] not in FREE]


@cache
def shipped_experiment(name: str) -> Mapping[str, object] | None:
    """Return the content of a shipped experiment; None if there is no such file."""
    path = EXPERIMENTS / f"{name}.yaml"
    if not path.is_relative_to(EXPERIMENTS) or ".." in path.parts or not path.is_file():
        return None
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content if isinstance(content, dict) else None


def reference_setting(results: Results, setting: Setting, reference: Reference) -> Setting | None:
    """Return the measured setting that a reference names, relative to a setting; None if there is none."""
    transport = reference.transport or setting.transport
    for candidate in results.measured_settings:
        if candidate.transport == transport and _is_at(results, setting, candidate, reference):
            return candidate
    return None


def _is_at(results: Results, setting: Setting, candidate: Setting, reference: Reference) -> bool:
    """True if the named parameters have their values and all other factors are as in the setting."""
    if any(parameter_value(results, candidate, name) != value for name, value in reference.at.items()):
        return False
    other = dict(candidate.factors)
    return all(
        value == other.get(key) or any(is_same_parameter(key, name) for name in reference.at)
        for key, value in setting.factors
    )


def ratio_to(results: Results, setting: Setting, other: Setting, metric: str) -> MeanInterval | None:
    """Return the mean, over the repetitions that both have, of one setting's number over the other's.

    A finite number over an infinite one is 0; two infinite ones give NaN.
    """
    above, below = results.by_repetition(setting, metric), results.by_repetition(other, metric)
    return mean_interval([above[r] / below[r] for r in sorted(above) if below.get(r)])


def reference_text(reference: Reference) -> str:
    """Write a reference as words: `Native RoCE`, or `the same at rtt noise 0`."""
    name = style_of(reference.transport).name if reference.transport else "the same"
    point = ", ".join(f"{factor_name(key)} {value}" for key, value in reference.at.items())
    return f"{name} at {point}" if point else name
