"""Is a run the experiment that was written for a claim? A sentence if it is not."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import yaml

from rogue.reports.claims.claim import Claim
from rogue.reports.quantities import joined
from rogue.workloads.manifest import Manifest
from rogue.workloads.shipped import shipped

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
"""Keys that are no conditions, or that a claim's own conditions hold: transports and factors."""
_DIFFERENCES_NAMED_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class NotOwn:
    """Why a run has not a claim's own conditions, as parts of sentences."""

    sentence: str
    """With what this claim needs."""
    of_run: str
    """Only what the run is: the same for all claims that are held against it."""

    def __str__(self) -> str:
        return self.sentence


def not_own_because(claim: Claim, manifest: Manifest) -> NotOwn | None:
    """Return why a run has not the claim's own conditions; None if it has them."""
    if not claim.experiments:
        text = "no shipped experiment was written for the claim"
        return NotOwn(text, text)
    name = experiment_name(manifest.source.file)
    if name not in claim.experiments:
        own = f"the claim’s own experiment is {joined(list(claim.experiments))}"
        of_run = "it is not the experiment of these claims"
        return NotOwn(f"this run is {name or manifest.name}, {own}", of_run)
    scale = manifest.experiment.get("scale", PAPER_SCALE)
    if scale != PAPER_SCALE:
        of_run = f"this run has the scale {scale}"
        return NotOwn(f"{of_run}, the claim needs the scale {PAPER_SCALE} of {name}", of_run)
    changed = changed_keys(name, manifest)
    if changed:
        more = "" if len(changed) <= _DIFFERENCES_NAMED_MAX else " and more"
        text = f"this run differs from {name} in {joined(changed[:_DIFFERENCES_NAMED_MAX])}{more}"
        return NotOwn(text, text)
    return None


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

    The files are compared by what they say; without them, the options of the command are believed.
    """
    shipped, written = shipped_experiment(name), manifest.source.data
    if shipped is None or not written:
        keys = (setting.partition("=")[0] for setting in manifest.source.set)
        return [key for key in keys if key.partition(".")[0].partition("[")[0] not in FREE]
    return [key for key in _unequal(shipped, written) if key.partition(".")[0].partition("[")[0] not in FREE]


@cache
def shipped_experiment(name: str) -> Mapping[str, object] | None:
    """Return what the shipped experiment of a name says; None where there is no such file."""
    path = EXPERIMENTS / f"{name}.yaml"
    if not path.is_relative_to(EXPERIMENTS) or ".." in path.parts or not path.is_file():
        return None
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content if isinstance(content, dict) else None


def _unequal(shipped: object, written: object, place: str = "") -> Iterator[str]:
    """Return the places, as dotted keys, at which two files differ."""
    if isinstance(shipped, Mapping) and isinstance(written, Mapping):
        for key in dict.fromkeys((*shipped, *written)):
            yield from _unequal(shipped.get(key), written.get(key), f"{place}.{key}".lstrip("."))
    elif isinstance(shipped, list) and isinstance(written, list) and len(shipped) == len(written):
        for index, pair in enumerate(zip(shipped, written, strict=True)):
            yield from _unequal(*pair, f"{place}[{index}]")
    elif shipped != written:
        yield place
