"""Published sets of parameters by line rate, and the line rates for which our defaults were published.

If hosts are faster than those of the source of a control's defaults, the set that has values for their
line rate applies. `variant: hpcc-ns3` names a set, and `variant: defaults` keeps the defaults at any rate.
A set has only values that its source states: nothing here is tuned.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from rogue.harness.experiment.choices import Scalar
from rogue.workloads.transports import TransportName

VARIANT: Final = "variant"
"""The parameter that chooses an implementation of a control, or a set of values of a source."""
CONTROL: Final = "cc"
"""The parameter that replaces RoGUE's control by another, whose values are its author's."""
DEFAULT_VARIANT: Final = "defaults"
"""The variant that keeps a control's own defaults at any line rate."""
GBPS: Final = 1_000_000_000

Values = Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class ParameterSet:
    """Values of a source for one control or TCP, by line rate in Gb/s, as an experiment writes them."""

    source: str
    values: Mapping[int, Values]


_HPCC: Final = "alibaba-edu/High-Precision-Congestion-Control, commit 08d4ba0, simulation/run.py"
_HPCC_RATES: Final = (25, 50, 100)
"""Rates in Gb/s (mix/config.txt, commit 2f65c35). run.py scales values from 25 Gb/s, TIMELY's from 10."""


def _hpcc_dcqcn(rate_gbps: int) -> Values:
    """Return the values of `--cc dcqcn_paper`.

    Its rate grows by a timer alone (no byte counter): once half-way to the target, once by RATE_AI, and then
    by RATE_HAI (rdma-hw.cc, RateIncEventMlx). Deviation: both increases are RATE_HAI here. CNPs and the decay
    of alpha keep our 50 and 55 us; the source has 50 and 50 us, and no decay in a period with a CNP.
    """
    return {
        "byte_counter": "1000TB",
        "recoveries": 1,
        "additive_increase": f"{50 * rate_gbps // 25}Mbps",
        "rate_min": "1Gbps",
        "clamps_target": 0,
        "kmin": f"{100 * rate_gbps // 25}KB",
        "kmax": f"{400 * rate_gbps // 25}KB",
        "pmax": 0.2,
    }


def _hpcc_timely(rate_gbps: int) -> Values:
    """Return the values of `--cc timely`; RATE_HAI is five times RATE_AI, as in our defaults.

    Deviation: one sample per segment, not one per round trip.
    """
    return {
        "additive_increase": f"{rate_gbps}Mbps",
        "rate_min_fraction": 1 / rate_gbps,
        "is_bursty": 0,
    }


def _hpcc_dctcp(rate_gbps: int) -> Values:
    """Return the marking threshold of `--cc dctcp`: 30 KB at 10 Gb/s, in proportion."""
    return {"mark_above": f"{3 * rate_gbps}KB"}


PARAMETER_SETS: Final[dict[str, dict[str, ParameterSet]]] = {
    "dcqcn": {
        "hpcc-ns3": ParameterSet(f"{_HPCC} (dcqcn_paper)", {rate: _hpcc_dcqcn(rate) for rate in _HPCC_RATES})
    },
    "timely": {
        "hpcc-ns3": ParameterSet(f"{_HPCC} (timely)", {rate: _hpcc_timely(rate) for rate in _HPCC_RATES})
    },
    "dctcp": {
        "hpcc-ns3": ParameterSet(f"{_HPCC} (dctcp)", {rate: _hpcc_dctcp(rate) for rate in _HPCC_RATES})
    },
}
"""By control of NICs, or by base of a TCP, and by name."""


@dataclass(frozen=True, slots=True)
class Published:
    """The source of a control's defaults, and what in them depends on the line rate."""

    rate_max_bps: int
    """The largest line rate of the source."""
    source: str
    depends: tuple[str, ...]
    """Parameters that depend on the line rate; an experiment that states one has chosen values."""


_ROGUE: Final = Published(
    40 * GBPS,
    "RoGUE, SoCC 2018, sections 3.3 and 5.7",
    ("rate_change_max", "cwnd_initial_packets", "hold_off"),
)
_TIMELY: Final = Published(10 * GBPS, "ECN or delay, CoNEXT 2016, section 4.2", ("additive_increase",))
DEFAULTS: Final[dict[str, Published]] = {
    "dcqcn": Published(
        40 * GBPS,
        "ECN or delay, CoNEXT 2016, table 1",
        ("additive_increase", "hyper_increase", "rate_timer", "kmin", "kmax"),
    ),
    "timely": _TIMELY,
    "timely-patched": _TIMELY,
    "rogue": _ROGUE,
    "rogue-uc": _ROGUE,
    "dctcp": Published(10 * GBPS, "DCTCP, SIGCOMM 2010, section 3.4", ("mark_above",)),
    "rocc": Published(100 * GBPS, "RoCC, CoNEXT 2020, section 6", ("reference", "maximum", "alpha", "beta")),
    "hpcc": Published(100 * GBPS, "HPCC, SIGCOMM 2019, section 5.1", ("additive_increase",)),
}
"""By control of NICs, or by base. Others have no default that depends on the line rate."""


def _owner(transport: TransportName) -> str:
    """Return whose parameters a transport has: its control in NICs, or else its base."""
    return transport.control or transport.base


class ChosenSet(NamedTuple):
    """A set of parameters that applies to a transport."""

    name: str
    source: str
    values: Values


def chosen_set(transport: TransportName, parameters: Values, rate_bps: int) -> ChosenSet | None:
    """Return the set that `variant` names, or else the one for a line rate beyond that of the defaults.

    An experiment that states a parameter that depends on the line rate has chosen values and gets no set.
    """
    name = parameters.get(VARIANT)
    if name is None and exceeds_defaults(transport, parameters, rate_bps):
        name = next(iter(set_names(transport, rate_bps)), None)
    found = PARAMETER_SETS.get(_owner(transport), {}).get(str(name))
    values = None if found is None else found.values.get(rate_bps // GBPS)
    return None if found is None or values is None else ChosenSet(str(name), found.source, values)


def with_set(transport: TransportName, parameters: Values, rate_bps: int) -> Values:
    """Return parameters with the values of the chosen set; stated ones win."""
    chosen = chosen_set(transport, parameters, rate_bps)
    has_defaults = parameters.get(VARIANT) == DEFAULT_VARIANT and _owner(transport) in PARAMETER_SETS
    if chosen is None and not has_defaults:
        return parameters
    stated = {key: value for key, value in parameters.items() if key != VARIANT}
    return stated if chosen is None else {**chosen.values, **stated}


def described_sets(transport: TransportName) -> list[str]:
    """Return the names of a transport's sets with their line rates, for error messages."""
    sets = PARAMETER_SETS.get(_owner(transport), {})
    named = [f"{name} (at {', '.join(map(str, each.values))} Gb/s)" for name, each in sets.items()]
    return [*named, DEFAULT_VARIANT] if named else []


def set_names(transport: TransportName, rate_bps: int) -> list[str]:
    """Return the names of the sets that have values of a transport for a line rate."""
    sets = PARAMETER_SETS.get(_owner(transport), {})
    return [name for name, each in sets.items() if rate_bps // GBPS in each.values]


def _gbps(rate_bps: int) -> str:
    return f"{rate_bps / GBPS:g} Gb/s"


def exceeds_defaults(transport: TransportName, parameters: Values, rate_bps: int) -> bool:
    """Tell whether hosts are faster than the source of the defaults that a transport uses."""
    published = DEFAULTS.get(_owner(transport))
    return (
        published is not None
        and rate_bps > published.rate_max_bps
        and not {CONTROL, *published.depends} & {*parameters}
    )


def unpublished(transport: TransportName, parameters: Values, rate_bps: int) -> tuple[str, str] | None:
    """Return the rate for which defaults were published, if hosts are faster, and what to do."""
    if not exceeds_defaults(transport, parameters, rate_bps):
        return None
    published = DEFAULTS[_owner(transport)]
    until = f"published for up to {_gbps(published.rate_max_bps)} ({published.source})"
    sentence = f"{until}, and hosts have {_gbps(rate_bps)}"
    if names := set_names(transport, rate_bps):
        return sentence, f"leave `{VARIANT}` out: then `{names[0]}`, which has published values, applies"
    stated = ", ".join(f"`{name}`" for name in published.depends)
    return sentence, f"state {stated} (no public source has values), or lower the rate"
