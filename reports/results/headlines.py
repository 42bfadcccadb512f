"""The measures that matter for each kind of traffic, and their text in the summary."""

from dataclasses import dataclass
from typing import Final

from rogue.reports.metrics import METRICS
from rogue.workloads.manifest import Manifest

NAMES: Final = ("Jain",)
"""Names that keep their capital within a sentence."""


@dataclass(frozen=True, slots=True)
class Headline:
    """A metric in the summary: its label on a card, and phrases about one value.

    `comparison` is the phrase before ` instead of ` and the value of another transport.
    """

    metric: str
    label: str | None = None
    phrase: str | None = None
    comparison: str | None = None
    other: str = "{}"
    """Phrase about the value of the other transport."""

    @property
    def said(self) -> str:
        """Return the name of the value within a sentence: `Probe, median` is `median probe`."""
        what, _, which = (self.label or METRICS[self.metric].title).partition(", ")
        is_word = what[1:2].islower() and not what.startswith(NAMES)
        return " ".join(filter(None, (which, f"{what[0].lower()}{what[1:]}" if is_word else what)))


@dataclass(frozen=True, slots=True)
class Headlines:
    """The measures of the summary and of the figures for a kind of traffic."""

    shown: tuple[Headline, ...]
    swept: tuple[str, ...]
    bars: tuple[str, ...] = ()
    """Metrics drawn as bars, a bar per transport."""

    def is_about(self, metric: str) -> bool:
        """True if the summary has this metric."""
        return any(headline.metric == metric for headline in self.shown)


_AGGREGATE: Final = Headline("aggregate_bps", "All flows together")
# Compared as shares of what their own packets allow, so that no transport wins by its headers.
_SHARE: Final = Headline("aggregate_share", comparison="all flows together carry {} of their ideal")
_FRAMES: Final = Headline("frames_bps", comparison="all flows together carry {} in frames")
_INTERVALS: Final = Headline(
    "interval_goodput_p10_share", comparison="the slowest tenth of flow intervals gets {} of the ideal share"
)
_JAIN: Final = Headline("jain", "Jain’s index")
_PROBE: Final = Headline(
    "probe_p50_ns", "Probe, median", "a probe takes {} at the median", "the median probe takes {}"
)
_QUEUE: Final = Headline("queue_p50_bytes", "Queue, median", "{} wait in the queue", "the median queue is {}")
_MEAN_TIME: Final = Headline(
    "fct_mean_ns", "Completion, mean", "a transfer takes {} on average", "the mean transfer takes {}"
)
_LONG: Final = Headline(
    "long_fct_p50_ns",
    "Long transfers, median",
    "a long transfer takes {} at the median",
    "the median long transfer takes {}",
)
_SHORT: Final = Headline(
    "short_fct_p90_ns",
    "Short transfers, p90",
    "nine in ten short transfers take at most {}",
    "nine in ten short transfers take at most {}",
)
_UNFINISHED: Final = Headline(
    "unfinished_share",
    "Not completed",
    "{} of the transfers did not complete",
    "{} of the transfers do not complete",
)
_SLOWDOWN: Final = Headline(
    "slowdown_mean",
    "Slowdown, mean",
    "takes {} times as long as alone in the network",
    "transfers take {} times as long as alone",
    "{} times",
)
_SLOWDOWN_TAIL: Final = Headline("slowdown_p99", comparison="one in a hundred has a slowdown above {}")
_TAIL: Final = Headline("fct_p99_ns", "Completion p99", comparison="one in a hundred takes longer than {}")
_RESENT: Final = Headline(
    "retransmitted_share",
    "Sent again",
    "{} of what is sent had been sent before",
    "{} of what is sent had been sent before",
)
_DROPPED: Final = Headline("dropped_share", "Packets dropped", "switches drop {} of the packets")
_LEVEL_SHARE: Final = Headline(
    "level_aggregate_share",
    "Of the ideal, worst level",
    "between changes the flows carry at least {} of the ideal",
    "the flows of the worst level carry {} of the ideal",
)
_LEVEL_JAIN: Final = Headline(
    "level_jain",
    "Jain’s index, worst level",
    "Jain’s index of the worst level is {}",
    "Jain’s index of the worst level is {}",
)
_LEVEL_RATIO: Final = Headline("level_most_over_least", "Most over least, worst level")
_ESTIMATE: Final = Headline(
    "rtt_p50_ns", "RTT estimate, median", "the agent’s median estimate of the round-trip time is {}"
)
_SILENT: Final = Headline(
    "silent_flows", "Flows silent at the end", comparison="{} flows are silent at the end"
)
_PAUSED: Final = Headline("paused_sum_ns", "Paused, all ports")
_DEADLOCK: Final = Headline("deadlock_ports", "Ports waiting in a loop")
_ESTIMATE_ERROR: Final = Headline("rtt_error_p50_ns", "Estimate − truth", "it differs from the truth by {}")

_WHOLE: Final = Headline("whole_ns", "The whole", "the whole takes {}", "the whole takes {}")
_BUS: Final = Headline(
    "bus_bandwidth_bps", "Bus bandwidth", "its bus bandwidth is {}", "the bus bandwidth is {}"
)
_STRAGGLER: Final = Headline("straggler_ns", "Last host after the median")

DEFAULT: Final = Headlines(
    (_AGGREGATE, _SHARE, _INTERVALS, _JAIN, _PROBE, _QUEUE),
    (
        "aggregate_share",
        "first_completion_p10_share",
        "interval_goodput_p10_share",
        "jain",
        "probe_p50_ns",
        "queue_p50_bytes",
    ),
)

# Where a link is cut: a rate means nothing, because a flow that dies at once has no outage in its average.
CUT: Final = Headlines((_UNFINISHED, _MEAN_TIME), ("unfinished_share", "fct_mean_ns", "retransmitted_share"))

# Where pauses spread or packets are misrouted: remaining throughput, and paused ports.
STANDSTILL: Final = Headlines(
    (_AGGREGATE, _FRAMES, _SILENT, _PAUSED, _DEADLOCK),
    ("aggregate_bps", "silent_flows", "paused_sum_ns", "pauses"),
)

# By the kind of fault.
OF_FAULTS: Final[dict[str, Headlines]] = {
    "link_cut": CUT,
    "link_failures": CUT,
    "pause_storm": STANDSTILL,
    "slow_receiver": STANDSTILL,
    "flooding": STANDSTILL,
    "misrouting": STANDSTILL,
}
PAUSING: Final = "topology.pause_"
"""Prefix of factors that change when switches pause."""

# Where transfers start independently of each other.
OF_TRANSFERS: Final = Headlines(
    (_MEAN_TIME, _SLOWDOWN, _SLOWDOWN_TAIL, _TAIL, _DROPPED, _UNFINISHED),
    ("slowdown_mean", "slowdown_p99", "fct_mean_ns", "fct_p99_ns", "dropped_share", "unfinished_share"),
    ("slowdown_mean", "fct_mean_ns", "fct_p99_ns"),
)

# Programs whose transfers wait for each other, without a bandwidth of the whole.
OF_PROGRAMS: Final = Headlines((_WHOLE, _STRAGGLER, _UNFINISHED), ("whole_ns", "straggler_ns"), ("whole_ns",))

# Where all hosts send at once, and the network as a whole is the bottleneck.
OF_NETWORKS: Final = Headlines(
    (_AGGREGATE, _SLOWDOWN, _TAIL, _RESENT, _UNFINISHED),
    ("slowdown_mean", "fct_p99_ns", "retransmitted_share", "queue_p99_bytes"),
    ("slowdown_mean", "fct_p99_ns", "retransmitted_share"),
)

# By the kind of workload; any other kind has the default.
HEADLINES: Final[dict[str, Headlines]] = {
    "staggered": Headlines(
        (_AGGREGATE, _SHARE, _LEVEL_SHARE, _LEVEL_JAIN, _LEVEL_RATIO, _PROBE, _QUEUE),
        ("level_aggregate_share", "level_jain", "level_most_over_least", "probe_p50_ns", "queue_p50_bytes"),
    ),
    "many_pairs": Headlines(
        (_LONG, _SHORT, _UNFINISHED, _PROBE),
        ("long_fct_p50_ns", "long_fct_p90_ns", "short_fct_p50_ns", "short_fct_p90_ns", "unfinished_share"),
    ),
    "permutation": OF_NETWORKS,
    "all_to_all": OF_NETWORKS,
    "goal": OF_PROGRAMS,
    "poisson": OF_TRANSFERS,
    "trace": OF_TRANSFERS,
    "collective": Headlines(
        (_WHOLE, _BUS, _STRAGGLER, _UNFINISHED),
        ("whole_ns", "bus_bandwidth_bps", "straggler_ns"),
        ("whole_ns", "bus_bandwidth_bps"),
    ),
    "ping": Headlines((_MEAN_TIME,), ("fct_mean_ns",)),
    "rtt_accuracy": Headlines(
        (_AGGREGATE, _SHARE, _ESTIMATE, _ESTIMATE_ERROR, _PROBE),
        ("rtt_p10_ns", "rtt_p50_ns", "rtt_p90_ns", "rtt_error_p50_ns", "probe_p50_ns"),
    ),
}


def headlines_of(manifest: Manifest) -> Headlines:
    """Return the headlines of a run: by its faults, else by its first kind of traffic that has some."""
    faults = manifest.experiment.get("faults")
    for fault in faults if isinstance(faults, list) else []:
        if (kind := _kind(fault)) in OF_FAULTS:
            return OF_FAULTS[kind]
    if _may_stand_still(manifest):
        return STANDSTILL
    groups = manifest.experiment.get("traffic")
    workloads = (
        [group.get("workload") for group in groups if isinstance(group, dict)]
        if isinstance(groups, list)
        else []
    )
    for workload in [manifest.experiment.get("workload"), *workloads]:
        if (kind := _kind(workload)) in HEADLINES:
            return HEADLINES[kind]
    return DEFAULT


def _kind(part: object) -> str:
    """Return the kind of a fault or a workload; empty if there is none."""
    return str(part.get("kind")) if isinstance(part, dict) else ""


def _may_stand_still(manifest: Manifest) -> bool:
    """True if the run is about pauses: switches in a ring, or varied thresholds."""
    topology, factors = manifest.experiment.get("topology"), manifest.experiment.get("factors")
    is_ring = isinstance(topology, dict) and topology.get("kind") == "ring"
    return is_ring or (isinstance(factors, dict) and any(key.startswith(PAUSING) for key in factors))
