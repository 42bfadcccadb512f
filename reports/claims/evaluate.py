"""Evaluate a run against the claims."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Final

from rogue.reports.claims.claim import Claim, JudgedBy
from rogue.reports.claims.conditions import (
    mismatch,
    other_conditions,
    other_experiment,
    ratio_to,
    reference_setting,
    reference_text,
)
from rogue.reports.claims.verdict import Evidence, Outcome, Verdict
from rogue.reports.claims.words import expected_text, measured_text, published_text
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.statistics import LEVEL_WITHIN, MeanInterval, mean_interval
from rogue.reports.results import PublishedNumber, Results, Setting
from rogue.workloads.records import CellStatus

_ROUNDING: Final = 1e-9
"""Relative rounding error of sums of fractions."""


def ends(measured: MeanInterval) -> tuple[float, float]:
    """Return the ends of the interval, or the least and largest value; the mean itself for one run."""
    low = measured.mean if measured.low is None else measured.low
    high = measured.mean if measured.high is None else measured.high
    return low, high


def distance(claim: Claim, value: float) -> float:
    """Return the distance of a value from the published one; at most 0 if a bound is kept."""
    assert claim.published is not None, "the claim's own validation demands a number"
    if not math.isfinite(value):
        return math.inf  # an infinite value reproduces no number and no bound
    beyond = claim.published - value
    return {"equals": abs(beyond), "at_least": beyond, "at_most": -beyond}[claim.bound]


def judge_number(claim: Claim, measured: MeanInterval) -> Verdict:
    """Judge whether a published number is reproduced, close or missed."""
    if not _is_within(claim, measured.mean):
        return Verdict.MISSED
    return Verdict.REPRODUCED if all(_is_within(claim, end) for end in ends(measured)) else Verdict.CLOSE


def _is_within(claim: Claim, value: float) -> bool:
    """True if a value lies within the tolerance, up to rounding: 0.92 is within 0.90 + 0.02."""
    assert claim.published is not None, "the claim's own validation demands a number"
    return distance(claim, value) <= claim.tolerance + _ROUNDING * abs(claim.published)


def judge_side(sign: str, measured: MeanInterval, reference: MeanInterval) -> Verdict:
    """Judge whether a mean is above or below another one: agrees, undecided or missed.

    Level means are on no side. An infinite mean is above all finite ones; two of them are level.
    """
    if is_level(measured.mean, reference.mean):
        return Verdict.MISSED
    upper, lower = (measured, reference) if sign == "above" else (reference, measured)
    if not upper.mean > lower.mean:
        return Verdict.MISSED
    return Verdict.AGREES if ends(upper)[0] > ends(lower)[1] else Verdict.UNDECIDED


def is_level(one: float, other: float) -> bool:
    """True if two means differ by less than LEVEL_WITHIN of the larger one."""
    return abs(one - other) < LEVEL_WITHIN * max(abs(one), abs(other))


def published_numbers(outcomes: Iterable[Outcome]) -> list[PublishedNumber]:
    """Return the published number of each outcome that has one; bounds are left out."""
    return [
        PublishedNumber(
            outcome.claim.id,
            outcome.setting,
            outcome.claim.metric,
            outcome.claim.published,
            outcome.claim.tolerance,
            outcome.measured,
            is_ratio=outcome.claim.relative_to is not None,
        )
        for outcome in outcomes
        if outcome.claim.judged_by is JudgedBy.NUMBER
        and outcome.claim.bound == "equals"
        and outcome.claim.published is not None
        and outcome.claim.metric
        and outcome.setting
        and outcome.measured
    ]


IS_HARDWARE: Final = "nic_is_hardware"
"""Fact of a cell whose traffic went through a real card."""
NO_CARD: Final = "no real card carried the traffic of this run"
_MORE: Final = "more runs may change the verdict."


def evaluate(claims: Sequence[Claim], results: Results) -> list[Outcome]:
    """Return the outcomes of all claims; one per setting to which a claim applies, at least one per claim."""
    return [outcome for claim in claims for outcome in _outcomes(claim, results)]


def hold_against(claims: Sequence[Claim], results: Results) -> list[Outcome]:
    """Evaluate the claims, and store the published numbers for the figures of the run."""
    outcomes = evaluate(claims, results)
    results.published = published_numbers(outcomes)
    return outcomes


def _outcomes(claim: Claim, results: Results) -> list[Outcome]:
    if _lacks_card(claim, results) and not _has_processor_time(claim, results):
        return [Outcome(claim, Verdict.NEEDS_HARDWARE, claim.note)]
    if claim.metric is None:
        return [_not_run(claim, "no metric of this version holds it")]
    other = other_experiment(claim, results.run.manifest)
    if other:
        return [_not_run(claim, other)]
    candidates = [setting for setting in results.settings if setting.registry_name == claim.transport]
    if not candidates:
        return [_not_run(claim, f"the run has no transport {claim.transport}")]
    reasons = [mismatch(claim, results, setting) for setting in candidates]
    fitting = [setting for setting, reason in zip(candidates, reasons, strict=True) if reason is None]
    if not fitting:
        return [_not_run(claim, next(reason for reason in reasons if reason))]
    return _measure_all(claim, claim.metric, results, fitting)


def has_hardware(results: Results) -> bool:
    """True if the traffic of any cell went through a real card."""
    return any(cell.facts.get(IS_HARDWARE) is True for cell in results.run.manifest.cells)


def _lacks_card(claim: Claim, results: Results) -> bool:
    return claim.judged_by is JudgedBy.HARDWARE and not has_hardware(results)


def _has_processor_time(claim: Claim, results: Results) -> bool:
    """True if the claim is about processor time and the run recorded it, as runs on virtual machines do."""
    if claim.metric is None or "cpu" not in METRICS[claim.metric].needs:
        return False
    return any(results.mean(setting, claim.metric) for setting in results.settings)


def _measure_all(claim: Claim, metric: str, results: Results, settings: Sequence[Setting]) -> list[Outcome]:
    if claim.pooled:
        return [_measure_pooled(claim, metric, results, settings)]
    return [_measure(claim, metric, results, setting) for setting in settings]


def _measure(claim: Claim, metric: str, results: Results, setting: Setting) -> Outcome:
    sides = [setting]
    if claim.relative_to is None:
        measured = results.mean(setting, metric)
    else:
        other = reference_setting(results, setting, claim.relative_to)
        if other is None:
            reason = f"the run has no {reference_text(claim.relative_to)} to divide by"
            return _not_run(claim, reason, setting)
        sides.append(other)
        measured = ratio_to(results, setting, other, metric)
    if measured is None:
        return _not_run(claim, _absent_because(metric, setting), setting)
    rival, seeds = _rival(claim, results, setting), _seeds(metric, results, sides)
    why_other = NO_CARD if _lacks_card(claim, results) else other_conditions(results.run.manifest)
    evidence = Evidence(measured, rival, seeds, why_other)
    if claim.judged_by is JudgedBy.SIDE:
        return _judge_direction(claim, setting, evidence)
    is_number = all(_exists(results.mean(side, metric)) for side in sides)
    return _judge_number(claim, setting, evidence, is_number=is_number)


def _measure_pooled(claim: Claim, metric: str, results: Results, settings: Sequence[Setting]) -> Outcome:
    """Judge the mean over the settings against that over their rivals, repetition by repetition."""
    assert claim.direction is not None and claim.direction.than is not None, "checked by the claim"
    than = claim.direction.than
    found = [reference_setting(results, setting, than) for setting in settings]
    rivals = [rival for rival in found if rival is not None]
    whole = replace(settings[0], factors=())
    common = _repetitions(metric, results, [*settings, *rivals])
    if not common or len(rivals) < len(settings):
        return _not_run(claim, f"not every factor point has {reference_text(than)} to compare with", whole)
    measured, rival = (
        mean_interval([fmean(results.by_repetition(each, metric)[r] for each in side) for r in common])
        for side in (settings, rivals)
    )
    assert measured is not None, "there is a repetition"
    seeds = _seeds(metric, results, [*settings, *rivals])
    evidence = Evidence(measured, rival, seeds, other_conditions(results.run.manifest))
    return _judge_direction(claim, whole, evidence)


def _exists(mean: MeanInterval | None) -> bool:
    return mean is not None and mean.exists


def _seeds(metric: str, results: Results, sides: Sequence[Setting]) -> tuple[int, ...]:
    """Return the seeds of the repetitions that all sides of a comparison have."""
    common = _repetitions(metric, results, sides)
    entries = sorted(sides[0].entries, key=lambda entry: entry.repetition)
    return tuple(entry.seed for entry in entries if entry.repetition in common and entry.seed is not None)


def _repetitions(metric: str, results: Results, sides: Sequence[Setting]) -> list[int]:
    return sorted(set.intersection(*(set(results.by_repetition(side, metric)) for side in sides)))


def _judge_number(claim: Claim, setting: Setting, evidence: Evidence, *, is_number: bool) -> Outcome:
    measured, reference = evidence.measured, _reference(claim, evidence)
    found = judge_number(claim, measured) if is_number else Verdict.MISSED
    caution = _caution(claim, found, measured)
    is_right = reference is not None and claim.direction is not None
    if found is Verdict.MISSED and is_right:
        assert claim.direction is not None and reference is not None, "checked above"
        if judge_side(claim.direction.sign, measured, reference) is Verdict.AGREES:
            found = Verdict.RIGHT_SIGN
    ratio = f" Numbers are ratios to {reference_text(claim.relative_to)}." if claim.relative_to else ""
    numbers = f"{published_text(claim)} Measured: {measured_text(claim, measured)}.{ratio}{caution}"
    return Outcome(claim, found, numbers, setting, evidence)


def _caution(claim: Claim, found: Verdict, measured: MeanInterval) -> str:
    """Warn if the mean and the ends of its interval have different verdicts."""
    what = "interval" if measured.has_interval else "single values"
    if found is Verdict.CLOSE:
        return f" The mean lies within the tolerance, not all of the {what}: {_MORE}"
    if found is Verdict.MISSED and measured.exists:
        reaches = any(judge_number(claim, single_of(end)) is not found for end in ends(measured))
        return f" A part of the {what} lies within the tolerance: {_MORE}" if reaches else ""
    return ""


def _judge_direction(claim: Claim, setting: Setting, evidence: Evidence) -> Outcome:
    assert claim.direction is not None, "the claim's own validation demands a direction"
    reference = _reference(claim, evidence)
    if reference is None:
        than = f"{reference_text(claim.direction.than)} " if claim.direction.than else "value "
        return _not_run(claim, f"the run has no {than}to compare with", setting)
    found = judge_side(claim.direction.sign, evidence.measured, reference)
    caution = f" The intervals overlap: {_MORE}" if found is Verdict.UNDECIDED else ""
    measured = measured_text(claim, evidence.measured)
    numbers = f"{expected_text(claim, reference)} Measured: {measured}.{caution}"
    return Outcome(claim, found, numbers, setting, evidence)


def _absent_because(metric: str, setting: Setting) -> str:
    """Explain why no finished cell has a number, with the run's reason for a missing table."""
    needs = METRICS[metric].needs
    reasons = [
        entry.not_measured[name] for entry in setting.entries for name in needs if name in entry.not_measured
    ]
    if all(entry.status is not CellStatus.OK for entry in setting.entries):
        reasons = [entry.message for entry in setting.entries if entry.message]
    why = f": {reasons[0].rstrip('.')}" if reasons else ""
    return f"no finished cell of {setting.title} has this number{why}"


def _rival(claim: Claim, results: Results, setting: Setting) -> MeanInterval | None:
    if claim.direction is None or claim.direction.than is None or claim.metric is None:
        return None
    rival = reference_setting(results, setting, claim.direction.than)
    return results.mean(rival, claim.metric) if rival else None


def _reference(claim: Claim, evidence: Evidence) -> MeanInterval | None:
    """Return the reference of a direction: a value, or the mean of another setting."""
    if claim.direction is None or claim.direction.value is None:
        return evidence.rival
    return single_of(claim.direction.value)


def single_of(value: float) -> MeanInterval:
    """Return one number as the mean of itself."""
    return MeanInterval(value, None, None, 1, (value,))


def _not_run(claim: Claim, reason: str, setting: Setting | None = None) -> Outcome:
    return Outcome(claim, Verdict.NOT_RUN, f"Not run: {reason}.", setting)
