"""Generate the reference page of transports: names, features, and every parameter."""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from reference_experiments import key_table, table

from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.agent.core.estimators import ESTIMATORS
from rogue.agent.core.settings import TransportSettings
from rogue.agent.core.transports import TRANSPORTS, settings_for
from rogue.harness.cell.group_settings import OPTIONS
from rogue.harness.cell.marking import CURVE_PARAMETERS
from rogue.harness.cell.parameter_sets import PARAMETER_SETS
from rogue.harness.cell.transport import BALANCERS, LOAD_BALANCING, NumericParameter, as_written
from rogue.harness.commands.list import places
from rogue.harness.experiment.choices import TransportChoice
from rogue.harness.experiment.keys import keys_of, quantity_of
from rogue.simulator import (
    CONTROLS,
    FAIR_RATE_PARAMETERS,
    RELIABILITIES,
    SPRAYING_PARAMETERS,
    ControlParameter,
)
from rogue.workloads.transports import BASES, FEATURES, NIC_CONTROLS, SPRAYING, TransportName

SLOW_BPS, FAST_BPS = 10_000_000_000, 100_000_000_000
"""Line rates on either side of 40 Gb/s, above which RoGUE has other defaults."""
NAMED: Final = {"cc": " or ".join(CONGESTION_CONTROLS), "estimator": " or ".join(ESTIMATORS)}
"""Parameters of agents that name an entry of a registry."""
RECOVERIES: Final = {
    "irn": "irn",
    "irn-gbn": "irn-gbn",
    "go-back-n": "roce-lossy",
    "go-back-0": "roce-go-back-0",
}
"""Kinds of loss recovery, and the transport that has each."""
HEAD: Final = ("parameter", "type", "default", "meaning")


def generated() -> str:
    """Return the page."""
    bases = [
        (
            f"`{name}`",
            base.service.upper(),
            ", ".join(places([TransportName(name)])),
            ", ".join(f"`+{feature}`" for feature in base.features) or "–",
            base.meaning,
        )
        for name, base in BASES.items()
    ]
    drivers = [
        (f"`{key}`", " or ".join(written(key, value) for value in values), f"`{written(key, values[0])}`")
        for key, values in OPTIONS.items()
    ]
    parts = [
        "# Transports",
        "A transport is a base with features added by `+`, for example `roce+pfc+dcqcn`."
        " [How the transports are modelled](../explanation/transports.md) says what each one leaves out.",
        "## Bases",
        table(("name", "service", "runs on", "takes", "what it is"), bases),
        "## Features",
        table(("feature", "what it adds"), [(f"`+{name}`", meaning) for name, meaning in FEATURES.items()]),
        "## Keys",
        "An entry of `transports` is a name, or a mapping with these keys and with parameters:",
        key_table(keys_of(TransportChoice)),
        "## Parameters of the agents",
        "Of `rogue` and `rogue-uc`, and of `roce`, `roce-uc` and all that post verbs as `roce` does.",
        *agent_parameters(),
        "## Parameters of controls in NICs",
        *control_parameters(),
        f"### +{SPRAYING}",
        table(HEAD, map(parameter_row, SPRAYING_PARAMETERS)),
        "## Parameters of IRN and go-back-N",
        "`cap_packets`, `rto_low` and `rto_high` fit the experiment's network unless you set them"
        " ([the rules](../explanation/transports.md#irn-and-go-back-n)). The defaults below are those of the"
        " simulator as a library.",
        matrix(RECOVERIES),
        "## Parameters of Ultra Ethernet",
        *ultra_ethernet_parameters(),
        "## Parameters of TCPs",
        "`dctcp` also has `mark_above`, a size: switches mark packets that arrive when more than this waits.",
        matrix({name: name for name, kind in RELIABILITIES.items() if kind.controls_window}),
        "## Parameters of drivers on nodes",
        table(("parameter", "type", "default"), drivers),
    ]
    return "\n\n".join(parts) + "\n"


def agent_parameters() -> list[str]:
    """Return the parameters of the agents and of their congestion controls."""
    parts = []
    described: list[tuple[str, type, tuple[str, ...]]] = [("", TransportSettings, tuple(TRANSPORTS))]
    for cc in sorted({settings_for(name, SLOW_BPS, {}).cc for name in TRANSPORTS}):
        users = tuple(name for name in TRANSPORTS if settings_for(name, SLOW_BPS, {}).cc == cc)
        described.append((cc, type(settings_for(users[0], SLOW_BPS, {}).cc_parameters), users))
    for cc, kind, having in described:
        title = f"With `cc: {cc}`, the default of {quoted(having)}, also:" if cc else ""
        rows = [
            (
                ", ".join(f"`{as_written(name)}`" for name in names),
                ", ".join(dict.fromkeys(unit(name) for name in names)),
                ", ".join(agent_default(name, having, of_control=bool(cc)) for name in names),
                meaning,
            )
            for names, meaning in described_fields(kind)
        ]
        parts += [title] if title else []
        parts += [table(HEAD, rows)]
    return parts


def described_fields(kind: type) -> list[tuple[list[str], str]]:
    """Return the fields of a class with their meanings, from its docstring."""
    own = {field.name for field in dataclasses.fields(kind)} - {"transport", "service", "cc_parameters"}
    found: list[tuple[list[str], str]] = []
    for line in (kind.__doc__ or "").splitlines()[1:]:
        entry = re.match(r" {4}([a-z_]+(?:, [a-z_]+)*): (.*)", line)
        if entry:
            found.append(([name for name in entry[1].split(", ") if name in own], entry[2]))
        elif found and line.strip():
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
    described = [(names, meaning.split(" Deviation:")[0]) for names, meaning in found if names]
    missing = own - {name for names, _ in described for name in names}
    if missing:
        raise LookupError(f"the docstring of {kind.__name__} does not describe {', '.join(sorted(missing))}")
    return described


def agent_default(name: str, having: Sequence[str], *, of_control: bool) -> str:
    """Return the default of each transport, and the one above 40 Gb/s if it differs."""
    by_value: dict[str, list[str]] = {}
    for transport in having:
        slow, fast = (
            written(name, getattr(each.cc_parameters if of_control else each, name))
            for each in (settings_for(transport, rate_bps, {}) for rate_bps in (SLOW_BPS, FAST_BPS))
        )
        text = f"`{slow}`" if slow == fast else f"`{slow}`, above 40Gbps `{fast}`"
        by_value.setdefault(text.replace("`none`", "none"), []).append(transport)
    if len(by_value) == 1:
        return next(iter(by_value))
    return "; ".join(f"{text} ({quoted(names)})" for text, names in by_value.items())


def quoted(names: Iterable[str]) -> str:
    """Return names as a list in a sentence."""
    return ", ".join(f"`{name}`" for name in names)


def unit(name: str, parameter: NumericParameter | None = None) -> str:
    """Return the type of a parameter: a quantity, or a number with its bounds."""
    quantity = quantity_of(name)
    if quantity is not None:
        return quantity.name
    if parameter is not None:
        return f"number, {number(parameter.minimum)} to {number(parameter.maximum)}"
    types = {**NAMED, "has_shadow": "true or false", "slow_start": "true or false"}
    return types.get(name, "number")


def written(name: str, value: object) -> str:
    """Return a value with the unit of its name."""
    quantity = quantity_of(name)
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return quantity.format(int(value)) if quantity and value == int(value) else number(float(value))
    return str(value)


def number(value: float) -> str:
    """Return a number without rounding noise."""
    return f"{value:.10g}"


def parameter_row(parameter: NumericParameter) -> tuple[str, str, str, str]:
    """Return name, type, default and meaning."""
    name = parameter.name
    return (
        f"`{as_written(name)}`",
        unit(name, parameter),
        f"`{written(name, parameter.value)}`",
        parameter.meaning,
    )


def control_parameters() -> list[str]:
    """Return the parameters of each NIC control, and what its variants change."""
    parts = []
    for name in NIC_CONTROLS:
        parts += [f"### +{name}", f"{CONTROLS[name].meaning[0].upper()}{CONTROLS[name].meaning[1:]}."]
        parts += [table(HEAD, map(parameter_row, CONTROLS[name].parameters))]
        own = {parameter.name: parameter.value for parameter in CONTROLS[name].parameters}
        for variant, kind in CONTROLS.items():
            if variant.startswith(f"{name}-") and variant not in NIC_CONTROLS:
                other = [each for each in kind.parameters if own.get(each.name) != each.value]
                values = ", ".join(
                    f"`{as_written(each.name)}: {written(each.name, each.value)}`" for each in other
                )
                parts += [f"`variant: {variant.removeprefix(name + '-')}` has {values}."]
        for variant, each in PARAMETER_SETS.get(name, {}).items():
            rates = ", ".join(map(str, each.values))
            parts += [f"`variant: {variant}` has values for {rates} Gb/s. Source: {each.source}."]
        has_fair_rates = NIC_CONTROLS[name].wants_fair_rates
        extra: tuple[NumericParameter, ...] = CURVE_PARAMETERS if NIC_CONTROLS[name].wants_marks else ()
        extra = (*extra, *(FAIR_RATE_PARAMETERS if has_fair_rates else ()))
        if extra:
            depends = " `0` means a value that depends on the rate of the link." if has_fair_rates else ""
            parts += [f"Of its switches:{depends}"]
            parts += [table(HEAD, map(parameter_row, extra))]
    return parts


def ultra_ethernet_parameters() -> list[str]:
    """Return the parameters of `uet`; `load_balancing` is a word, not a number."""
    own = [each for each in RELIABILITIES["uet"].parameters if each.name != LOAD_BALANCING]
    beside = RELIABILITIES["uet-rccc"].parameters[len(RELIABILITIES["uet"].parameters) :]
    words = ", ".join(f"`{word}`" for word in BALANCERS)
    return [
        f"`load_balancing` is one of {words}, usually `{BALANCERS[-1]}`; `paths` is that of `+spray`."
        " `base_rtt`, `line_rate`, `target_delay`, `header`, `rto`, and `kmin`, `kmax` and `pmax` of the"
        " switches fit the experiment's network unless you set them"
        " ([the rules](../explanation/transports.md#ultra-ethernet)). The defaults below are those of the"
        " simulator as a library.",
        table(HEAD, map(parameter_row, own)),
        "`+rccc` adds these; with `nscc: 0` it has no window:",
        table(HEAD, map(parameter_row, beside)),
    ]


def matrix(columns: Mapping[str, str]) -> str:
    """Return the parameters of several kinds of loss recovery, with a column for each."""
    names: dict[str, ControlParameter] = {}
    values = {
        title: {each.name: each for each in RELIABILITIES[name].parameters} for name, title in columns.items()
    }
    for parameters in values.values():
        names = {**parameters, **names}
    rows = [
        (
            f"`{as_written(name)}`",
            unit(name, first),
            *(f"`{written(name, of[name].value)}`" if name in of else "–" for of in values.values()),
            first.meaning,
        )
        for name, first in names.items()
    ]
    return table(("parameter", "type", *(f"`{title}`" for title in values), "meaning"), rows)
