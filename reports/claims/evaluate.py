"""Holds the results of a run against the claims and gives each a verdict."""

from dataclasses import dataclass

from pydantic import JsonValue

from reports.claims.claim import Claim, ClaimKind, Verdict
from reports.claims.conditions import mismatch
from reports.claims.reference import ratio_to, reference_setting, reference_text
from reports.metrics import METRICS
from reports.metrics.intervals import LEVEL_WITHIN, MeanInterval
from reports.quantities import NO_VALUE, Unit, counted, number_text, quantity_text
from reports.results import Results, Setting
from workloads.records import CellStatus

IS_HARDWARE = "nic_is_hardware"
"""Fact of a cell whose traffic went through a real card."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A claim, what was measured, the verdict, and what it rests on: the numbers, or why there are none."""

    claim: Claim
    verdict: Verdict
    numbers: str
    setting: Setting | None = None
    measured: MeanInterval | None = None

    @property
    def sentence(self) -> str:
        """Return why the verdict is what it is: the numbers, and the claim's note where there are some."""
        return f"{self.numbers} {self.claim.note}" if self.measured else self.numbers

    def as_json(self) -> dict[str, JsonValue]:
        """Return what `claims.json` says about the claim; numbers in the metric's base unit."""
        measured = self.measured
        interval: JsonValue = None
        if measured is not None and measured.low is not None and measured.high is not None:
            interval = [measured.low, measured.high]
        return {
            "id": self.claim.id,
            "source": self.claim.source,
            "statement": self.claim.statement,
            "metric": self.claim.metric,
            "transport": self.claim.transport,
            "factors": dict(self.setting.factors) if self.setting else {},
            "published": self.claim.published,
            "published_text": self.claim.published_text,
            "tolerance": self.claim.tolerance,
            "measured": measured.mean if measured else None,
            "interval": interval,
            "n": measured.n if measured else 0,
            "verdict": self.verdict.value,
            "sentence": self.sentence,
        }


def evaluate(claims: list[Claim], results: Results) -> list[Outcome]:
    """Return the outcomes of all claims; one per setting to which a claim applies, at least one per claim."""
    return [outcome for claim in claims for outcome in _outcomes(claim, results)]


def _outcomes(claim: Claim, results: Results) -> list[Outcome]:
    if claim.kind is ClaimKind.HARDWARE_ONLY and not _has_hardware(results):
        return [Outcome(claim, Verdict.NEEDS_HARDWARE, claim.note)]
    candidates = [setting for setting in results.settings if setting.registry_name == claim.transport]
    if not candidates:
        return [_not_run(claim, f"the run has no transport {claim.transport}")]
    reasons = [mismatch(claim, results, setting) for setting in candidates]
    fitting = [setting for setting, reason in zip(candidates, reasons, strict=True) if reason is None]
    if not fitting:
        return [_not_run(claim, next(reason for reason in reasons if reason))]
    return [_measure(claim, results, setting) for setting in fitting]


def _has_hardware(results: Results) -> bool:
    return any(cell.facts.get(IS_HARDWARE) is True for cell in results.run.manifest.cells)


def _measure(claim: Claim, results: Results, setting: Setting) -> Outcome:
    if claim.metric is None:
        return _not_run(claim, "no metric of this version holds it", setting)
    if claim.relative_to is None:
        measured = results.mean(setting, claim.metric)
    else:
        other = reference_setting(results, setting, claim.relative_to)
        if other is None:
            return _not_run(
                claim, f"the run has no {reference_text(claim.relative_to)} to divide by", setting
            )
        measured = ratio_to(results, setting, other, claim.metric)
    if measured is None:
        return _not_run(claim, _absent_because(claim.metric, setting), setting)
    if claim.kind is ClaimKind.DIRECTION_ONLY:
        return _judge_direction(claim, results, setting, measured)
    return _judge_number(claim, results, setting, measured)


def _judge_number(claim: Claim, results: Results, setting: Setting, measured: MeanInterval) -> Outcome:
    assert claim.published is not None, "the claim's own validation demands a number"
    unit = _unit(claim)
    verdict = _verdict(claim, measured.mean)
    reference = _reference(claim, results, setting)
    if verdict is Verdict.MISSED and reference is not None and _holds(claim, measured, reference):
        verdict = Verdict.DIRECTION
    ends = [end for end in (measured.low, measured.high) if end is not None]
    open_to_change = any(_verdict(claim, end) is not _verdict(claim, measured.mean) for end in ends)
    caution = " Not all of the interval has this verdict: more runs may change it." if open_to_change else ""
    bound = {"at_least": "at least ", "at_most": "at most ", "equals": ""}[claim.bound]
    ratio = f" Numbers are ratios to {reference_text(claim.relative_to)}." if claim.relative_to else ""
    tolerance = f", tolerance {quantity_text(claim.tolerance, unit)}" if claim.tolerance else ""
    numbers = (
        f"Published: {bound}{quantity_text(claim.published, unit)}{tolerance}."
        f" Measured: {measured_text(claim, measured)}.{ratio}{caution}"
    )
    return Outcome(claim, verdict, numbers, setting, measured)


def _verdict(claim: Claim, value: float) -> Verdict:
    """Return the verdict on a value: within the tolerance, within twice it, or neither."""
    assert claim.published is not None, "the claim's own validation demands a number"
    distance = claim.published - value
    if claim.bound == "equals":
        distance = abs(distance)
    elif claim.bound == "at_most":
        distance = -distance
    if distance <= claim.tolerance:
        return Verdict.REPRODUCED
    return Verdict.CLOSE if distance <= 2 * claim.tolerance else Verdict.MISSED


def _judge_direction(claim: Claim, results: Results, setting: Setting, measured: MeanInterval) -> Outcome:
    assert claim.direction is not None, "the claim's own validation demands a direction"
    reference = _reference(claim, results, setting)
    if reference is None:
        than = f"{reference_text(claim.direction.than)} " if claim.direction.than else "value "
        return _not_run(claim, f"the run has no {than}to compare with", setting)
    verdict = Verdict.DIRECTION if _holds(claim, measured, reference) else Verdict.MISSED
    rival = f" ({reference_text(claim.direction.than)})" if claim.direction.than else ""
    numbers = (
        f"Expected: {claim.direction.sign} {quantity_text(reference, _unit(claim))}{rival}."
        f" Measured: {measured_text(claim, measured)}."
    )
    return Outcome(claim, verdict, numbers, setting, measured)


def measured_text(claim: Claim, measured: MeanInterval) -> str:
    """Write what was measured: mean, interval and number of runs."""
    unit = _unit(claim)
    text = f"{quantity_text(measured.mean, unit)}, mean of {counted(measured.n, 'run')}"
    if measured.low is None or measured.high is None:
        return f"{text}, which gives no interval"
    return f"{text}, 95 % interval {interval_text(claim, measured)}"


def interval_text(claim: Claim, measured: MeanInterval | None) -> str:
    """Write the 95 % interval alone; a dash where there is none."""
    if measured is None or measured.low is None or measured.high is None:
        return NO_VALUE
    unit = _unit(claim)
    return f"{number_text(measured.low, unit)} to {quantity_text(measured.high, unit)}"


def mean_text(claim: Claim, measured: MeanInterval | None) -> str:
    """Write the mean alone; a dash where there is none."""
    return quantity_text(measured.mean if measured else None, _unit(claim))


def _unit(claim: Claim) -> Unit:
    """Return the unit of a claim's numbers; ratios, and what no metric holds, have none."""
    return Unit.RATIO if claim.relative_to or claim.metric is None else METRICS[claim.metric].unit


def _absent_because(metric: str, setting: Setting) -> str:
    """Say why no finished cell has a number, with the reason that the run gives for a missing table."""
    needs = METRICS[metric].needs
    reasons = [
        entry.not_measured[name] for entry in setting.entries for name in needs if name in entry.not_measured
    ]
    if all(entry.status is not CellStatus.OK for entry in setting.entries):
        reasons = [entry.message for entry in setting.entries if entry.message]
    why = f": {reasons[0].rstrip('.')}" if reasons else ""
    return f"no finished cell of {setting.title} has this number{why}"


def _holds(claim: Claim, measured: MeanInterval, reference: float) -> bool:
    """Return whether a value is on the side that was claimed; means that are level are on no side."""
    if abs(measured.mean - reference) < LEVEL_WITHIN * max(abs(measured.mean), abs(reference)):
        return False
    above = claim.direction is not None and claim.direction.sign == "above"
    return measured.mean > reference if above else measured.mean < reference


def _reference(claim: Claim, results: Results, setting: Setting) -> float | None:
    """Return what a direction is relative to: a value, or the mean of another setting."""
    direction = claim.direction
    if direction is None or claim.metric is None:
        return None
    if direction.than is None:
        return direction.value
    rival = reference_setting(results, setting, direction.than)
    mean = results.mean(rival, claim.metric) if rival else None
    return mean.mean if mean else None


def _not_run(claim: Claim, reason: str, setting: Setting | None = None) -> Outcome:
    return Outcome(claim, Verdict.NOT_RUN, f"Not run: {reason}.", setting)
