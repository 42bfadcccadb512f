"""The answer to the experiment's question: sentences, one table, and the figures that show it best."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rogue.reports.metrics import METRICS
from rogue.reports.metrics.completion import MISSING_MAX
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.pages.answer_table import answer_table, is_void, order
from rogue.reports.pages.tables import Column, ReportTable, column_scale
from rogue.reports.quantities import Unit, counted, joined, quantity_text
from rogue.reports.results import (
    Results,
    Setting,
    by_transport,
    factor_name,
    is_counted,
    lost_text,
    mean_text,
    settings_by_point,
    spoken_text,
)
from rogue.reports.results.headlines import (
    DEFAULT,
    OF_TRANSFERS,
    Headline,
    headlines_of,
    subject_of,
    topics_of,
)
from rogue.reports.warnings.load import SENTENCE as UNPUBLISHED
from rogue.reports.warnings.load import too_idle
from rogue.reports.warnings.tails import TAILS, thin_tails

LEADS_MAX: Final = 2
"""Measures of the question that get a sentence of their own."""
COLUMNS_MAX: Final = 7
MEASURES_ALONE: Final = 3
"""Sentences about a single transport."""
NAMED_MAX: Final = 3
"""Of more transports on the same side only the extremes are named."""
VALUES_NAMED_MAX: Final = 5
COST_MIN: Final = 0.01
"""Smaller losses are only in the table."""
COSTS: Final = {
    "probe_loss_share": "loses {} of its probes",
    "unfinished_share": "leaves {} of its transfers unfinished",
    "failed_queue_pair_share": "loses {} of its queue pairs",
}
GOODPUT: Final = {"aggregate_share", "aggregate_bps"}
"""With a sentence about one of these, none says that a port idles."""
INCOMPARABLE: Final = "not comparable"
"""Of two values that are both infinite."""
FIGURES_OF: Final = {
    "queue_p50_bytes": ("probe_latency", "queue_distribution", "queue_over_time"),
    "probe_p50_ns": ("probe_latency",),
    "aggregate_share": ("throughput",),
    "aggregate_bps": ("throughput",),
    "interval_goodput_p10_share": ("flow_shares", "throughput"),
    "jain": ("flow_shares", "throughput"),
    "fct_mean_ns": ("completion_times",),
    "fct_p99_ns": ("completion_times",),
    "slowdown_mean": ("size_slowdowns", "group_slowdowns", "completion_times"),
    "slowdown_p99": ("size_slowdowns", "group_slowdowns", "completion_times"),
    "whole_ns": ("critical_path", "completion_times"),
    "rtt_p50_ns": ("rtt_estimate",),
    "failed_queue_pair_share": ("recovery",),
    "unfinished_share": ("recovery", "completion_times"),
    "client_cpu_share": ("cpu_load",),
    "server_cpu_share": ("cpu_load",),
}
"""Names of figures by measure, the best first."""
OF_FACTORS: Final = ("factor_sweep", "two_factors")
OTHERWISE: Final = ("bars", "completion_times", "throughput")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to the question of a run; without a finished cell it has no table."""

    sentences: tuple[str, ...]
    table: ReportTable | None
    figures: tuple[str, ...] = ()
    """Names of the figures that show it, the best first."""


class Answered(NamedTuple):
    """An answer, and sentences about claims and cells that were not run."""

    answer: Answer
    notes: list[str]


def answer_of(results: Results) -> Answer:
    """Return the answer: the measures that the question names come first, winners and losers alike."""
    settings = results.measured_settings
    if not settings:
        return Answer(("No cell finished, so there is nothing to compare.",), None)
    leads, others = _measures(results)
    names = list(dict.fromkeys([*(each.metric for each in (*leads, *others)), *COSTS]))
    columns = _columns(results, names, leads)[:COLUMNS_MAX]
    if not columns:
        return Answer(("The finished cells have none of the measures that the question needs.",), None)
    varied = OF_FACTORS if len(settings_by_point(settings)) > 1 else ()
    figures = [*varied, *(figure for name in names for figure in FIGURES_OF.get(name, ())), *OTHERWISE]
    return Answer(
        tuple(_sentences(results, leads, others)),
        answer_table(results, columns),
        tuple(dict.fromkeys(figures)),
    )


def _columns(results: Results, names: list[str], leads: list[Headline]) -> list[Column]:
    """Return the columns of these measures in the unit of their means; those of zeros only if they lead."""
    kept = {each.metric for each in leads}
    found = []
    for name in names:
        means = [mean.mean for each in results.measured_settings if (mean := results.mean(each, name))]
        if any(means) or (means and name in kept):
            found.append(Column(METRICS[name], column_scale(means, METRICS[name].unit)))
    return found


def _measures(results: Results) -> tuple[list[Headline], list[Headline]]:
    """Return the measures that get a sentence, then the others of the experiment's kind."""
    manifest = results.run.manifest
    own, others = headlines_of(manifest).shown, (*OF_TRANSFERS.shown, *DEFAULT.shown)
    shown = [each for each in own if results.has(each.metric)]
    shown = shown or [each for each in others if results.has(each.metric)]
    if any(each.metric == "aggregate_share" for each in shown):  # goodput alone favours small headers
        shown = [each for each in shown if each.metric != "aggregate_bps"]
    named = [first for topic in topics_of(manifest) if (first := _first(results, topic)) is not None]
    leads = list(dict.fromkeys(named))[:LEADS_MAX] or shown[:1]
    return leads, [each for each in shown if each not in leads]


def _first(results: Results, topic: Iterable[Headline]) -> Headline | None:
    """Return the first measure that the run has; a tail of few transfers only if there is no other."""
    known = [each for each in topic if results.has(each.metric)]
    thick = [each for each in known if each.metric not in TAILS or not thin_tails(results)]
    return next(iter([*thick, *known]), None)


def _sentences(results: Results, leads: list[Headline], others: list[Headline]) -> list[str]:
    subject, groups = subject_of(results), by_transport(results.measured_settings)
    own = groups.pop(subject)
    rivals = list(groups.values())
    against = [each for each in others if _contradicts(results, leads[0], each, own, rivals)][:1]
    if not rivals:
        against = others[: MEASURES_ALONE - len(leads)]
    in_sentences = {each.metric for each in (*leads, *against)}
    costs = _costs_by_name(results, [own, *rivals], in_sentences)
    sentences = [
        f"{_about(results, each, own, rivals, costs if place == 0 else {})}."
        for place, each in enumerate([*leads, *against])
    ]
    remedy = _remedy(results, [each.metric for each in (*leads, *others)])
    return [*sentences, *_unpublished(results, [own, *rivals]), *remedy]


def _unpublished(results: Results, groups: list[list[Setting]]) -> list[str]:
    """Name the transports whose defaults are of lower line rates, because they may do better with others."""
    names = [
        own[0].style.name
        for own in groups
        if any(results.views_of(each)[0].entry.facts.get(UNPUBLISHED) for each in own)
    ]
    if not names:
        return []
    verb, whose = ("has", "its") if len(names) == 1 else ("have", "their")
    return [
        f"{joined(names)} {verb} defaults beyond {whose} published line rate, and may do better with others."
    ]


def _remedy(results: Results, names: list[str]) -> list[str]:
    """Say how to get a mean that too many unfinished transfers make infinite; nothing if none is."""
    missing = [
        lost_text(results, setting, name)
        for name in names
        if is_counted(name) and "_mean" in name
        for setting in results.measured_settings
        if (mean := results.mean(setting, name)) is not None and not mean.exists
        if any(view.transfers and view.transfers.is_unfinished.any() for view in results.views_of(setting))
    ]
    if not missing:
        return []
    needed = quantity_text(1 - MISSING_MAX, Unit.PERCENT)
    return [
        f"A mean needs {needed} of the transfers ({missing[0]}); a longer drain_for lets more of them finish."
    ]


def _costs_by_name(
    results: Results, groups: list[list[Setting]], in_sentences: set[str]
) -> dict[str, list[str]]:
    """Return phrases about losses above COST_MIN by transport, except of measures that have a sentence."""
    points = " at its worst point" if max(map(len, groups)) > 1 else ""
    found: dict[str, list[str]] = {}
    for name, phrase in COSTS.items():
        for group in groups:
            worst = max((mean.mean for each in group if (mean := results.mean(each, name))), default=0.0)
            if worst > COST_MIN and name not in in_sentences:
                text = phrase.format(quantity_text(worst, METRICS[name].unit))
                found.setdefault(group[0].style.name, []).append(f"{text}{points}")
    if in_sentences.isdisjoint(GOODPUT):
        for group in groups:
            idle = max((share for each in group if (share := too_idle(results, each))), default=None)
            if idle is not None:
                text = f"leaves the port idle for {quantity_text(idle, Unit.PERCENT)} of the time"
                found.setdefault(group[0].style.name, []).append(f"{text}{points}")
    return found


def _about(
    results: Results,
    headline: Headline,
    own: list[Setting],
    rivals: list[list[Setting]],
    costs: dict[str, list[str]],
) -> str:
    """Say the value of a measure, then which transports are better, level and worse, with their values."""
    sides: dict[str, list[tuple[str, float, str]]] = {}
    for rival in rivals:
        words, mean = _side(results, headline.metric, own, rival)
        if words:
            text = _span(results, rival, headline.metric)
            sides.setdefault(words, []).append((rival[0].style.name, mean, text))
    name, costs = own[0].style.name, dict(costs)
    clauses = [_with_cost(f"{name} {_predicate(results, headline, own)}", [name], costs)]
    for words in sorted(sides, key=_rank):
        names = [each[0] for each in sides[words]]
        clauses.append(_with_cost(_clause(words, sides[words]), names, costs))
    if len(costs) > NAMED_MAX:
        clauses.append(
            f"{len(costs)} others also lose probes, transfers or queue pairs, or leave the port idle"
        )
    else:
        clauses += [f"{who} {joined(lost)}" for who, lost in costs.items()]
    return "; ".join(clauses)


def _with_cost(clause: str, names: list[str], costs: dict[str, list[str]]) -> str:
    """Add to a clause about one transport what that loses, and take it from the costs."""
    lost = costs.pop(names[0], []) if len(names) == 1 else []
    return joined([clause, *lost])


def _predicate(results: Results, headline: Headline, own: list[Setting]) -> str:
    """Say the value of a measure over the points of a transport, and at how many of them it has none."""
    varied = f" points ({_varied(own)})" if len(own) > 1 else ""
    points = f" over {len(own)}{varied}" if varied else ""
    known = [each for each in own if results.mean(each, headline.metric)]
    void = [each for each in known if is_void(results, each, headline.metric)]
    if not void:
        value = headline.said(_span(results, own, headline.metric)) if known else f"has no {headline.noun}"
        return f"{value}{points}"
    why = lost_text(results, void[0], headline.metric)
    why = f" ({why})" if why else ""
    if len(void) == len(known):
        return f"has no {headline.noun}{why}{points}"
    shown = [each for each in known if each not in void]
    value = headline.said(_span(results, shown, headline.metric))
    return f"{value} at {len(shown)} of {len(own)}{varied}, and none at {len(void)}{why}"


def _side(results: Results, metric: str, own: list[Setting], rival: list[Setting]) -> tuple[str, float]:
    """Return whether a rival is better, level, worse or not comparable, and its least mean, to sort by."""
    pairs, means = _pairs(results, metric, own, rival), [results.mean(each, metric) for each in rival]
    if not pairs:
        return "", math.nan
    signs = [order(*pair, metric) for pair in pairs if any(mean.exists for mean in pair)]
    better, worse = ("higher", "lower") if METRICS[metric].better == "higher" else ("lower", "higher")
    if METRICS[metric].better != "near":
        better, worse = "better", "worse"
    counts = [(signs.count(-1), better), (signs.count(0), "level"), (signs.count(1), worse)]
    counts.append((len(pairs) - len(signs), INCOMPARABLE))
    found = [(count, word) for count, word in counts if count]
    least = min(mean.mean for mean in means if mean is not None)
    if len(found) == 1:
        return found[0][1], least
    return (
        f"{joined([f'{word} at {count}' for count, word in found])} of {counted(len(pairs), 'point')}",
        least,
    )


def _rank(words: str) -> int:
    """Order sides: better, level, worse, not comparable, then those that differ by point."""
    words_in_order = ("better", "lower", "level", "worse", "higher", INCOMPARABLE)
    return words_in_order.index(words) if words in words_in_order else len(words_in_order)


def _clause(words: str, sides: list[tuple[str, float, str]]) -> str:
    """Write `DCTCP is better with 94 KB`; of many transports the extremes."""
    sides.sort(key=lambda each: each[1])
    if len(sides) == 1:
        ((name, _, value),) = sides
        differs_by_point = words.endswith((" point", " points"))
        if words == INCOMPARABLE or differs_by_point:
            return f"{name}, with {value}{' in all' if differs_by_point else ''}, is {words}"
        return f"{name} is {words} with {value}"
    if len(sides) <= NAMED_MAX:
        return f"{joined([f'{name} ({value})' for name, _, value in sides])} are {words}"
    (first, _, low), *_, (last, _, high) = sides
    return f"{len(sides)} are {words}, from {first} ({low}) to {last} ({high})"


def _pairs(
    results: Results, metric: str, own: list[Setting], rival: list[Setting]
) -> list[tuple[MeanInterval, MeanInterval]]:
    """Return the means of two transports at each factor point that both have."""
    return [
        (one, two)
        for mine in own
        for its in rival
        if mine.factors == its.factors
        and (one := results.mean(mine, metric)) is not None
        and (two := results.mean(its, metric)) is not None
    ]


def _contradicts(
    results: Results, lead: Headline, other: Headline, own: list[Setting], rivals: list[list[Setting]]
) -> bool:
    """True if some rival is better on one measure and worse on the other."""
    if "near" in (METRICS[lead.metric].better, METRICS[other.metric].better):
        return False

    def balance(metric: str, rival: list[Setting]) -> int:
        return sum(order(*pair, metric) for pair in _pairs(results, metric, own, rival))

    return any(balance(lead.metric, rival) * balance(other.metric, rival) < 0 for rival in rivals)


def _span(results: Results, settings: list[Setting], metric: str) -> str:
    """Write the value of a transport, or the least and the largest over the factor points that have one."""
    known = [(mean.mean, each) for each in settings if (mean := results.mean(each, metric))]
    if not known:
        return ""
    if len(known) == 1:
        return spoken_text(results, known[0][1], metric)
    known.sort(key=lambda pair: pair[0])
    shown = [each for _, each in known if not is_void(results, each, metric)] or [known[0][1]]
    low, high = (mean_text(results, each, metric) for each in (shown[0], shown[-1]))
    void = sum(is_void(results, each, metric) for _, each in known)
    none = f" (none at {void} of {len(settings)} points)" if 0 < void < len(known) else ""
    return f"{low if low == high else f'{low} to {high}'}{none}"


def _varied(settings: Sequence[Setting]) -> str:
    """Write the varied factors: `senders 2 to 8, verb read and write`."""
    values: dict[str, dict[str, None]] = {}
    for setting in settings:
        for key, value in setting.factors:
            values.setdefault(key, {})[value] = None
    varied = [(key, list(each)) for key, each in values.items() if len(each) > 1]
    return ", ".join(
        f"{factor_name(key)} {joined(each) if len(each) <= VALUES_NAMED_MAX else f'{each[0]} to {each[-1]}'}"
        for key, each in varied
    )
