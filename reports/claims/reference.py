"""The other side of a comparison: which setting a claim is held against, and ratios to it."""

from rogue.reports.claims.claim import Reference
from rogue.reports.claims.parameters import is_same_parameter, parameter_value
from rogue.reports.metrics.intervals import MeanInterval, mean_interval
from rogue.reports.results import Results, Setting, factor_name
from rogue.reports.transport_styles import style_of


def reference_setting(results: Results, setting: Setting, reference: Reference) -> Setting | None:
    """Return the measured setting that a reference means, seen from a setting; None if there is none."""
    transport = reference.transport or setting.transport
    for candidate in results.measured_settings:
        if candidate.transport == transport and _is_at(results, setting, candidate, reference):
            return candidate
    return None


def _is_at(results: Results, setting: Setting, candidate: Setting, reference: Reference) -> bool:
    """Return whether the named parameters have their values and all other factors are as in the setting."""
    if any(parameter_value(results, candidate, name) != value for name, value in reference.at.items()):
        return False
    other = dict(candidate.factors)
    return all(
        value == other.get(key) or any(is_same_parameter(key, name) for name in reference.at)
        for key, value in setting.factors
    )


def ratio_to(results: Results, setting: Setting, other: Setting, metric: str) -> MeanInterval | None:
    """Return the mean, over the repetitions that both have, of one setting's number over the other's.

    Over what never came back (infinite) a finite number is 0, and an infinite one is not a number.
    """
    above, below = results.by_repetition(setting, metric), results.by_repetition(other, metric)
    return mean_interval([above[r] / below[r] for r in sorted(above) if below.get(r)])


def reference_text(reference: Reference) -> str:
    """Write a reference as words: `Native RoCE`, or `the same at rtt noise 0`."""
    name = style_of(reference.transport).name if reference.transport else "the same"
    point = ", ".join(f"{factor_name(key)} {value}" for key, value in reference.at.items())
    return f"{name} at {point}" if point else name
