"""A question at some values: its number there, perhaps over the number where a few keys have other values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.bench import Bench, Measured
from rogue.harness.search.question import Question, ratio
from rogue.workloads.units import QUANTITY_OF_SUFFIX


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the bench that measures for it."""

    question: Question
    bench: Bench

    def measure(self, asked: Sequence[Mapping[str, Scalar]], seeds: range) -> list[Measured]:
        """Return what each of these values gives; seeds are paired where two points are compared."""
        own = self.bench.measure(asked, seeds)
        if not self.question.beside:
            return own
        beside = values_beside(self.question.beside, self.bench.base.subject)
        others = self.bench.measure([{**values, **beside} for values in asked], seeds)
        return [self._over(one, other) for one, other in zip(own, others, strict=True)]

    def _over(self, own: Measured, other: Measured) -> Measured:
        cells, problem = own.cells + other.cells, own.problem or other.problem
        if problem is not None:
            return replace(own, by_seed=(), value=None, cells=cells, problem=problem)
        by_seed = tuple(ratio(one, at) for one, at in zip(own.by_seed, other.by_seed, strict=True))
        value = self.question.target.mildest(by_seed)
        words = "a ratio to zero or of two infinite numbers" if value is None else None
        return replace(own, by_seed=by_seed, value=value, cells=cells, problem=words)

    def verdict(self, measured: Measured) -> bool | None:
        """Return whether the mean over the seeds bears the claim out; None without a claim or a number."""
        return self.verdict_of(None if measured.value is None else fmean(measured.known))

    def verdict_of(self, number: float | None) -> bool | None:
        """Return whether a number bears the claim out; None without a claim or a number."""
        return None if self.question.holds is None or number is None else self.question.holds(number)


def values_beside(parameters: Mapping[str, Scalar], subject: int) -> dict[str, Scalar]:
    """Return parameters of a claim, in base units, as an experiment has them at its keys.

    `workload.size_bytes` is written at `workload.size`; `transport.` is the transport that is looked at.
    """
    written: dict[str, Scalar] = {}
    for parameter, value in parameters.items():
        key, text = re.sub(r"^transport\.", f"transports[{subject}].", parameter), value
        for suffix, quantity in QUANTITY_OF_SUFFIX.items():
            if key.endswith(suffix) and isinstance(value, int):
                key, text = key.removesuffix(suffix), quantity.format(value)
        written[key] = text
    return written
