"""Generate the reference page of experiment files: every key, from the code that reads it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rogue.harness.experiment.choices import MEASURES, MeasureChoice, TrafficGroup
from rogue.harness.experiment.keys import NONE, REQUIRED, Key, keys_of
from rogue.harness.experiment.model import Experiment
from rogue.workloads.faults import FAULTS
from rogue.workloads.probes import PROBES
from rogue.workloads.specification import Specification
from rogue.workloads.topologies import TOPOLOGIES, Topology
from rogue.workloads.traffic import WORKLOADS
from rogue.workloads.traffic.pairs import Pair

SECTIONS: Final = ("topology", "workload", "traffic", "probe", "faults", "measure")
PARTS: Final = {
    "TrafficGroup": "[group](#traffic)",
    "TransportChoice": "[transport](transports.md#keys)",
    "MeasureChoice": "[measure](#measure)",
    "SwitchControlChoice": "[switch control](../how-to/switch-controls.md)",
    "Pair": "[flow](#workload-pairs)",
}
INTRODUCTION: Final = """\
A dash means that there is no default; the meaning then says what happens. Quantities have a unit, such as
`10Gbps`, `64KiB` or `2us` ([values and units](../how-to/experiment-files.md#values-and-units)). The keys of
[transports](transports.md) are on another page. `rogue list topologies` prints the same in a terminal
(also `workloads`, `faults`, `probes` and `transports`)."""


def generated() -> str:
    """Return the page."""
    of_kinds = [keys_of(kind) for kind in TOPOLOGIES.values()]
    common = [key for key in keys_of(Topology) if all(key in keys for keys in of_kinds)]
    parts = [
        "# Experiment keys",
        INTRODUCTION,
        "## Keys of the file",
        key_table(keys_of(Experiment), SECTIONS),
        "## topology",
        *kinds("topology", TOPOLOGIES, common),
        "## workload",
        *kinds("workload", WORKLOADS),
        "## traffic",
        "Several workloads at once, each a named group; instead of `workload`.",
        key_table(keys_of(TrafficGroup)),
        "## probe",
        *kinds("probe", PROBES),
        "## faults",
        *kinds("fault", FAULTS),
        "## measure",
        key_table(keys_of(MeasureChoice)),
        table(("measure", "what it records"), [(f"`{name}`", meaning) for name, meaning in MEASURES.items()]),
    ]
    return "\n\n".join(parts) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def default(text: str) -> str:
    """Return a default as an experiment would have it, bold if the key is required."""
    return f"**{text}**" if text == REQUIRED else "–" if text == NONE else f"`{text}`"


def type_of(text: str) -> str:
    """Return a type, with links to the parts that it names."""
    return re.sub("|".join(PARTS), lambda found: PARTS[found[0]], text)


def key_table(keys: Iterable[Key], linked: Sequence[str] = ()) -> str:
    """Return a table with a row per key; `linked` keys have a section."""
    rows = [
        (
            f"[`{key.name}`](#{key.name})" if key.name in linked else f"`{key.name}`",
            type_of(key.type),
            default(key.default),
            key.meaning,
        )
        for key in keys
    ]
    return table(("key", "type", "default", "meaning"), rows)


def kinds(section: str, registry: Mapping[str, type[Specification]], common: Sequence[Key] = ()) -> list[str]:
    """Return a table of the kinds, the keys that all have, then the keys of each."""
    index = [(f"[`{name}`](#{section}-{name})", summary(kind)) for name, kind in registry.items()]
    parts = [table(("kind", "what it is"), index)]
    parts += [f"### Every {section}", key_table(common)] if common else []
    for name, kind in registry.items():
        own = [key for key in keys_of(kind) if key not in common]
        parts += [f"### {section}: {name}", summary(kind)]
        parts += [key_table(own)] if own else []
        if name == "pairs":
            parts += ["Each of its `flows` has:", key_table(keys_of(Pair))]
    return parts


def summary(kind: type) -> str:
    """Return the first line of the docstring of a class."""
    return (kind.__doc__ or "").strip().splitlines()[0]
