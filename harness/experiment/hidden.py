"""Values that an experiment file states and that are never run, because a factor has others."""

from collections.abc import Iterator

from rogue.harness.experiment.document import show
from rogue.harness.experiment.load import LoadedExperiment
from rogue.harness.experiment.scale import PAPER
from rogue.harness.experiment.settings import FACTORS, parse_path
from rogue.harness.experiment.yaml_text import format_path


def hidden_values(loaded: LoadedExperiment) -> Iterator[str]:
    """A sentence for each; what a scale or `--set` left of a factor's values is meant so."""
    document = loaded.document
    if loaded.experiment.scale != PAPER:
        return
    for key, values in loaded.factors.items():
        path = parse_path(key) or ()
        base = document.written(path)
        is_set = document.place((FACTORS, key)).startswith("--set")
        if base is not None and base not in values and not is_set:
            has = f"factors has {', '.join(map(show, values))}"
            yield f"{document.place(path)}: {format_path(path)}: {show(base)} is never run: {has}"
