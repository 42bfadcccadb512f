"""All that is asked of a measure or a claim: a screening, indices of what it leaves, the smallest turn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rogue.harness.search.asked import Asked
from rogue.harness.search.axis import Axis, axes_of
from rogue.harness.search.bench import Measured
from rogue.harness.search.flip import Flip, find_flip, turns_again
from rogue.harness.search.question import Question
from rogue.harness.search.screening import Screened, screen
from rogue.harness.search.sobol import Index, indices_of, sample_blocks
from rogue.harness.search.variation import SobolPlan, Variation

OnPoint = Callable[[Question, Measured], None]


@dataclass(frozen=True, slots=True)
class Indices:
    """Sobol indices of one question."""

    keys: tuple[str, ...]
    found: list[Index] | None
    """In the order of the keys; None where too few points have a number, or where it never changes."""
    measured: list[Measured]


@dataclass(frozen=True, slots=True)
class Analysed:
    """What came of one question."""

    screened: Screened
    indices: Indices | None
    flip: Flip | None

    @property
    def ran(self) -> list[Measured]:
        """Return every point, the experiment's own first where it ran."""
        own = [] if self.flip is None else [self.flip.own]
        turned = [] if self.flip is None else self.flip.tried
        return [*own, *self.screened.measured, *(self.indices.measured if self.indices else ()), *turned]


def analyse(asked: Sequence[Asked], variation: Variation, on_point: OnPoint) -> list[Analysed]:
    """Screen all questions, then go on with each of them; every point is told."""
    return [_analysed(each, variation, on_point) for each in screen(asked, variation, on_point)]


def _analysed(screened: Screened, variation: Variation, on_point: OnPoint) -> Analysed:
    indices = None if variation.sobol is None else _indices(screened, variation, variation.sobol, on_point)
    return Analysed(screened, indices, _flip(screened, variation, on_point))


def _indices(screened: Screened, variation: Variation, plan: SobolPlan, on_point: OnPoint) -> Indices | None:
    leading = [each.key for each in screened.moved if each.effect is not None and each.effect.size > 0]
    keys = tuple(leading[: plan.keys])
    if len(keys) < 2:
        return None
    points = sample_blocks(len(keys), plan.samples, variation.sampler_seed)
    values = [
        {key: variation.keys[key].at(share) for key, share in zip(keys, point, strict=True)}
        for point in points
    ]
    measured = screened.asked.measure(values, variation.seeds.numbers)
    for one in measured:
        on_point(screened.question, one)
    numbers = [each.by_seed or (None,) for each in measured]
    return Indices(keys, indices_of(len(keys), numbers, variation.sampler_seed), measured)


def _flip(screened: Screened, variation: Variation, on_point: OnPoint) -> Flip | None:
    if screened.question.holds is None or not variation.flip:
        return None
    found = find_flip(screened, _ranked(screened, variation), variation.flip, variation.seeds.numbers)
    for one in (found.own, *found.tried):
        on_point(screened.question, one)
    if found.turn is None or found.held is None:
        return found
    again = turns_again(screened.asked, found.turn, found.held, variation.held_out.numbers)
    return replace(found, again=again)


def _ranked(screened: Screened, variation: Variation) -> list[Axis]:
    """Return the axes, those that move the number most first."""
    axes = {axis.key: axis for axis in axes_of(variation.keys, screened.asked.bench.base)}
    return [axes[each.key] for each in screened.moved]
