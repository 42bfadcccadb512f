"""Is a run the experiment that was written for a claim? A sentence if it is not."""

from collections.abc import Iterator, Mapping
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
_IS: Final = "this run is"


def not_own_because(claim: Claim, manifest: Manifest) -> str | None:
    """Return why a run has not the claim's own conditions, as part of a sentence; None if it has them."""
    own = f"the claim’s own experiment is {joined(list(claim.experiments))}"
    if not claim.experiments:
        return "no shipped experiment was written for the claim"
    name = experiment_name(manifest.source.file)
    if name not in claim.experiments:
        return f"{_IS} {name or manifest.name}, {own}"
    scale = manifest.experiment.get("scale", PAPER_SCALE)
    if scale != PAPER_SCALE:
        return f"this run has the scale {scale}, the claim needs the scale {PAPER_SCALE} of {name}"
    changed = changed_keys(name, manifest)
    if changed:
        more = "" if len(changed) <= _DIFFERENCES_NAMED_MAX else " and more"
        return f"this run differs from {name} in {joined(changed[:_DIFFERENCES_NAMED_MAX])}{more}"
    return None


def short_reason(not_own: str) -> str:
    """Return what such a reason says of the run, in words that are the same for all its claims."""
    of_the_run = not_own.partition(", the claim")[0]
    return "it is not the experiment of these claims" if of_the_run.startswith(_IS) else of_the_run


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
