"""The measures that answer the question of an experiment, and their names in a sentence."""

import re
from dataclasses import dataclass
from typing import Final

from rogue.reports.results import Results
from rogue.workloads.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Headline:
    """A measure that answers questions, and the phrases about its value: `has a median queue of 90 KB`."""

    metric: str
    noun: str
    phrase: str = ""
    """Replaces `has a NOUN of {}` where that is no English."""

    def said(self, value: str) -> str:
        """Return the predicate of a sentence about this value."""
        article = "an" if self.noun[0] in "aeiou" else "a"
        return (self.phrase or f"has {article} {self.noun} of {{}}").format(value)


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


_AGGREGATE: Final = Headline("aggregate_bps", "total goodput")
# Compared as shares of what their own packets allow, so that no transport wins by its headers.
_SHARE: Final = Headline("aggregate_share", "share of the ideal goodput", "carries {} of the ideal goodput")
_FRAMES: Final = Headline("frames_bps", "total rate of frames")
_INTERVALS: Final = Headline(
    "interval_goodput_p10_share",
    "goodput of slow intervals",
    "gives the slowest tenth of flow intervals at most {} of their share",
)
_JAIN: Final = Headline("jain", "Jain’s index")
_PROBE: Final = Headline("probe_p50_ns", "median probe latency")
_QUEUE: Final = Headline("queue_p50_bytes", "median queue")
_MEAN_TIME: Final = Headline("fct_mean_ns", "mean completion time")
_LONG: Final = Headline("long_fct_p50_ns", "median completion time of long transfers")
_SHORT: Final = Headline("short_fct_p90_ns", "p90 completion time of short transfers")
_UNFINISHED: Final = Headline(
    "unfinished_share", "share of unfinished transfers", "leaves {} of the transfers unfinished"
)
_SLOWDOWN: Final = Headline("slowdown_mean", "mean slowdown")
_SLOWDOWN_TAIL: Final = Headline("slowdown_p99", "p99 slowdown")
_TAIL: Final = Headline("fct_p99_ns", "p99 completion time")
_RESENT: Final = Headline("retransmitted_share", "retransmitted share", "sends {} of its packets again")
_DROPPED: Final = Headline("dropped_share", "share of dropped packets", "loses {} of its packets in switches")
_LEVEL_SHARE: Final = Headline(
    "level_aggregate_share",
    "share of the ideal rate at the worst level",
    "carries at least {} of the ideal rate",
)
_LEVEL_JAIN: Final = Headline("level_jain", "Jain’s index at the worst level")
_LEVEL_RATIO: Final = Headline("level_most_over_least", "ratio of fastest to slowest flow at the worst level")
_MESH: Final = Headline("mesh_rc_p99_ns", "p99 latency between hosts")
_MESH_TCP: Final = Headline("mesh_tcp_p99_ns", "p99 latency of TCP between hosts")
_ESTIMATE: Final = Headline("rtt_p50_ns", "median RTT estimate")
_SILENT: Final = Headline("silent_flows", "number of silent flows", "ends with {} silent flows")
_PAUSED: Final = Headline("paused_sum_ns", "sum of pauses", "pauses ports for {} in sum")
_DEADLOCK: Final = Headline("deadlock_ports", "deadlock", "leaves {} ports in a deadlock")
_ESTIMATE_ERROR: Final = Headline("rtt_error_p50_ns", "median error of the RTT estimate")
_WHOLE: Final = Headline("whole_ns", "time for the whole", "completes the whole in {}")
_BUS: Final = Headline("bus_bandwidth_bps", "bus bandwidth")
_STRAGGLER: Final = Headline("straggler_ns", "lag of the last host behind the median")
_FAILED: Final = Headline(
    "failed_queue_pair_share", "share of failed queue pairs", "loses {} of its queue pairs"
)
_CLIENT_CPU: Final = Headline("client_cpu_share", "processor load of the client")
_SERVER_CPU: Final = Headline("server_cpu_share", "processor load of the server")

# "Base RTT", "RTT samples" and "cwnd / RTT" name what an experiment varies or computes with.
_RTT: Final = r"(?<!base )(?<!/ )\brtt\b(?! samples)"
# What words of a question ask for; the first measure that the run has answers.
_TOPICS: Final[tuple[tuple[str, tuple[Headline, ...]], ...]] = (
    (r"queues?\b(?! pair)", (_QUEUE,)),
    (rf"latency|round trip|round-trip|{_RTT}", (_MESH, _MESH_TCP, _PROBE, _ESTIMATE)),
    (r"fair|level|shares?\b", (_JAIN, _LEVEL_JAIN)),
    (r"throughput|goodput|capacity|line rate", (_SHARE, _AGGREGATE)),
    (r"lose (fewer )?packets|losses", (_DROPPED, _RESENT)),
    (r"sent again|retransmi", (_RESENT,)),
    (r"paused?\b|pauses", (_PAUSED,)),
    (r"deadlock", (_DEADLOCK,)),
    (r"slowdown", (_SLOWDOWN_TAIL, _SLOWDOWN)),
    (r"complet|sooner|longer|\btakes? (as )?long|\btakes? the \d+ [nuµm]?s\b", (_WHOLE, _MEAN_TIME)),
    (r"\btails?\b", (_SLOWDOWN_TAIL, _TAIL)),
    (r"surviv|\bkills?\b", (_FAILED, _UNFINISHED)),
    (r"processor", (_CLIENT_CPU, _SERVER_CPU)),
)

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


def topics_of(manifest: Manifest) -> list[tuple[Headline, ...]]:
    """Return the measures for each quantity that the question names, in the order of its words."""
    question = str(manifest.experiment.get("question") or "")
    found = [(match.start(), own) for words, own in _TOPICS if (match := re.search(words, question, re.I))]
    return [own for _, own in sorted(found, key=lambda each: each[0])]


def subject_of(results: Results) -> str:
    """Return the transport that the question names first; else the first one of the experiment.

    A name counts as a whole word, without parameters and "without PFC" behind it, and of two names at one
    place the longer one. The case of a single letter matters, because "a" is a word.
    """
    question, settings = results.run.manifest.question or "", results.measured_settings
    places = {}
    for setting in settings:
        name = setting.style.name.partition(" (")[0].removesuffix(" without PFC")
        found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.I if len(name) > 1 else 0)
        if found:
            places[setting.transport] = (found.start(), -len(name))
    return min(places, key=places.__getitem__, default=settings[0].transport)


def _kind(part: object) -> str:
    """Return the kind of a fault or a workload; empty if there is none."""
    return str(part.get("kind")) if isinstance(part, dict) else ""


def _may_stand_still(manifest: Manifest) -> bool:
    """True if the run is about pauses: switches in a ring, or varied thresholds."""
    topology, factors = manifest.experiment.get("topology"), manifest.experiment.get("factors")
    is_ring = isinstance(topology, dict) and topology.get("kind") == "ring"
    return is_ring or (isinstance(factors, dict) and any(key.startswith(PAUSING) for key in factors))
