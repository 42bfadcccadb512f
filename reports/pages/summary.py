"""The ten-second summary: how the transports compare, and one sentence about each."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rogue.reports.metrics import METRICS
from rogue.reports.metrics.statistics import LEVEL_WITHIN, MeanInterval
from rogue.reports.quantities import NO_VALUE, Unit, counted, joined, number_text, quantity_text
from rogue.reports.results import Results, Setting, never_text, spoken_text, value_text
from rogue.reports.results.headlines import Headline, headlines_of
from rogue.reports.transport_styles import TransportStyle

# Words for Jain's index, by least value.
EVENNESS = ((0.98, "evenly"), (0.9, "fairly evenly"), (0.0, "unevenly"))
RATIO_MAX = 1000
# More comparisons cannot be read in ten seconds.
RIVALS_MAX = 5
RIVALS_IN_BRIEF = 2


@dataclass(frozen=True, slots=True)
class Card:
    """One transport in the summary; `details` has a sentence per factor point if there are several."""

    style: TransportStyle
    sentence: str
    numbers: tuple[tuple[str, str], ...]
    details: tuple[str, ...] = ()


def cards(results: Results) -> list[Card]:
    """Return one card per transport that has a finished cell, in the experiment's order."""
    by_transport: dict[str, list[Setting]] = {}
    for setting in results.measured_settings:
        by_transport.setdefault(setting.transport, []).append(setting)
    return [_card(results, settings) for settings in by_transport.values()]


def comparison(results: Results) -> list[str]:
    """Return how the first transport compares with each other one, a sentence or two per rival."""
    settings = results.measured_settings
    if not settings:
        return ["No cell finished, so there is nothing to compare."]
    pairs = rivals(settings)
    if not pairs:
        names = list(dict.fromkeys(setting.style.name for setting in settings))
        if len(names) == 1:
            return [f"Only {names[0]} finished, so there is nothing to compare it with."]
        return [f"No factor point has results of {names[0]} and of another transport, to compare them."]
    compared = [_compare(results, points) for points in pairs]
    if len(compared) <= RIVALS_MAX + 1:
        return compared
    rest = len(compared) - RIVALS_MAX
    return [*compared[:RIVALS_MAX], f"The cards, figures and tables below have the other {rest}."]


def in_brief(results: Results) -> list[str]:
    """Return the result in a sentence or two: with rivals the score, and the first measure that differs."""
    pairs = rivals(results.measured_settings)
    if pairs:
        return [_compare(results, points, is_brief=True) for points in pairs[:RIVALS_IN_BRIEF]]
    return [*comparison(results), *(f"{card.style.name}: {card.sentence}" for card in cards(results)[:1])]


def rivals(settings: Sequence[Setting]) -> list[list[tuple[Setting, Setting]]]:
    """Pair the first transport with each other one, at the factor points that both have."""
    pairs: dict[str, list[tuple[Setting, Setting]]] = {}
    for setting in settings:
        for rival in settings:
            if (
                setting.transport == settings[0].transport != rival.transport
                and rival.factors == setting.factors
            ):
                pairs.setdefault(rival.transport, []).append((setting, rival))
    return list(pairs.values())


def _card(results: Results, settings: list[Setting]) -> Card:
    numbers = (
        *(
            (headline.label, _range(results, settings, headline.metric))
            for headline in headlines_of(results.run.manifest).shown
            if headline.label and results.has(headline.metric)
        ),
        ("Connections failed", failed_connections(results, settings)),
    )
    sentences = tuple(_sentence(results, setting) for setting in settings)
    if len(settings) == 1:
        return Card(settings[0].style, sentences[0], numbers)
    whole = f"{len(settings)} settings; the numbers are the least and the largest of their means."
    return Card(settings[0].style, whole, numbers, sentences)


def _sentence(results: Results, setting: Setting) -> str:
    """Describe a transport at one factor point in one sentence, without missing measures."""
    flows = max(len(view.flow_ids) for view in results.views_of(setting))
    parts = []
    headlines = headlines_of(results.run.manifest)
    rate, share = results.mean(setting, "aggregate_bps"), results.mean(setting, "aggregate_share")
    if rate and share and headlines.is_about("aggregate_bps"):
        parts.append(
            f"{counted(flows, 'flow')} {'gets' if flows == 1 else 'share'}"
            f" {quantity_text(rate.mean, Unit.RATE)} ({quantity_text(share.mean, Unit.PERCENT)} of the ideal)"
            f"{_evenness(results.mean(setting, 'jain')) if flows > 1 else ''}"
        )
    for headline in headlines.shown:
        mean = results.mean(setting, headline.metric)
        if mean and headline.phrase:
            text = spoken_text(results, setting, headline.metric)
            parts.append(
                headline.phrase.format(text)
                if mean.exists
                else f"the {headline.said} {never_text(results, setting, headline.metric)}"
            )
    failures = failed_connections(results, [setting])
    if failures != NO_VALUE:
        parts.append(
            "no connection failed" if failures.startswith("0 ") else f"{failures} connections failed"
        )
    text = joined(parts) if parts else "finished, but left no table that can be read"
    return f"With {setting.factor_text}: {text}." if setting.factors else f"{text[0].upper()}{text[1:]}."


def _evenness(jain: MeanInterval | None) -> str:
    if jain is None:
        return ""
    word = next(word for least, word in EVENNESS if jain.mean >= least)
    return f" {word} (Jain’s index {number_text(jain.mean, Unit.INDEX)})"


def _range(results: Results, settings: list[Setting], metric: str) -> str:
    """Write the value of a metric, or the least and the largest one over the factor points."""
    means = [(mean.mean, setting) for setting in settings if (mean := results.mean(setting, metric))]
    if not means:
        return NO_VALUE
    means.sort(key=lambda each: each[0])
    low, high = (value_text(results, setting, metric) for _, setting in (means[0], means[-1]))
    return high if low == high else f"{low} to {high}"


def failed_connections(results: Results, settings: list[Setting]) -> str:
    """Write the number of failed connections over all repetitions: `6 of 24`."""
    views = [view for setting in settings for view in results.views_of(setting)]
    total = sum(len(view.flow_ids) for view in views)
    failed = sum(len(view.failed_flow_ids) for view in views)
    return f"{failed} of {total}" if total else NO_VALUE


def _compare(results: Results, points: list[tuple[Setting, Setting]], *, is_brief: bool = False) -> str:
    """Count the measures on which a transport beats another one, then list them at the last factor point."""
    own, rival = points[-1]
    orders = [order for pair in points for order in _orders(results, *pair)]
    if not orders:
        return f"{own.style.name} and {rival.style.name} have no measure in common."
    counts = [
        f"{words} {count}"
        for sign, words in ((1, "better on"), (-1, "worse on"), (0, "level on"))
        if (count := orders.count(sign))
    ]
    over = f" over {len(points)} settings" if len(points) > 1 else ""
    score = f"{own.style.name} is {joined(counts)} of {counted(len(orders), 'measure')}{over}"
    where = f" With {own.factor_text}" if own.factors else ""
    opening = f"Against {rival.style.name}, {score}{'.' + where if where else ''}: "
    single = min(len(results.views_of(side)) for side in (own, rival)) == 1
    caution = " With one run there is no interval: these are single observations." if single else ""
    parts = _differences(results, own, rival)
    if is_brief:
        deciding = next((index for index, each in enumerate(_orders(results, own, rival)) if each), 0)
        parts = parts[deciding : deciding + 1]
    return f"{opening}{joined(parts)}.{caution}"


def _differences(results: Results, own: Setting, rival: Setting) -> list[str]:
    """Give each measure of both transports at one factor point, and the failed connections."""
    parts = [_difference(results, own, rival, each) for each, *_ in _pairs(results, own, rival)]
    failures = [failed_connections(results, [side]) for side in (own, rival)]
    if NO_VALUE not in failures and not all(text.startswith("0 ") for text in failures):
        parts.append(f"{failures[0]} connections fail instead of {failures[1]}")
    return parts


def _pairs(
    results: Results, own: Setting, rival: Setting
) -> list[tuple[Headline, MeanInterval, MeanInterval]]:
    """Return the measures by which transports are compared, with both means."""
    return [
        (headline, one, other)
        for headline in headlines_of(results.run.manifest).shown
        if headline.comparison
        and (one := results.mean(own, headline.metric))
        and (other := results.mean(rival, headline.metric))
    ]


def _orders(results: Results, own: Setting, rival: Setting) -> list[int]:
    return [order(one, other, each.metric) for each, one, other in _pairs(results, own, rival)]


def order(own: MeanInterval, other: MeanInterval, metric: str) -> int:
    """Return 1 if the first mean is better, -1 if worse, 0 if both are level.

    Means are level if their 95 % intervals touch (or the spans of their values, with too few runs for an
    interval), or if they differ by less than LEVEL_WITHIN of the larger one. An infinite time is worse than
    any other.
    """
    if own.mean == other.mean:
        return 0
    if abs(own.mean - other.mean) < LEVEL_WITHIN * max(abs(own.mean), abs(other.mean)) < math.inf:
        return 0
    own_low, own_high = (own.mean if bound is None else bound for bound in (own.low, own.high))
    other_low, other_high = (other.mean if bound is None else bound for bound in (other.low, other.high))
    if own_low <= other_high and other_low <= own_high:
        return 0
    return 1 if (own.mean > other.mean) == (METRICS[metric].better == "higher") else -1


def _difference(results: Results, own: Setting, rival: Setting, headline: Headline) -> str:
    """Give both values, with their ratio if it is informative; only once if they have the same text."""
    means = [results.mean(side, headline.metric) for side in (own, rival)]
    values = [mean.mean for mean in means if mean]
    if not all(map(math.isfinite, values)):
        return _with_what_never_came(results, own, rival, headline)
    texts = [spoken_text(results, side, headline.metric) for side in (own, rival)]
    text = (headline.comparison or f"{headline.said} {{}}").format(texts[0])
    if texts[0] == texts[1]:
        return f"{text} with both"
    text += f" instead of {headline.other.format(texts[1])}"
    small, large = sorted(values)
    if small <= 0 or not 1.5 <= large / small < RATIO_MAX:
        return text
    return f"{text} ({float(f'{large / small:.2g}'):g} times {'more' if values[0] > values[1] else 'less'})"


def _with_what_never_came(results: Results, own: Setting, rival: Setting, headline: Headline) -> str:
    """Give both values if at least one is infinite: `the median probe takes 71 µs (with … it is lost)`."""
    means = [results.mean(side, headline.metric) for side in (own, rival)]
    exists = [mean is not None and mean.exists for mean in means]
    never = [never_text(results, side, headline.metric) for side in (own, rival)]
    if not any(exists):
        other = " with both" if never[0] == never[1] else f" (with {rival.style.name} {never[1]})"
        return f"the {headline.said} {never[0]}{other}"
    phrase = headline.comparison or f"the {headline.said} is {{}}"
    value = phrase.format(spoken_text(results, own if exists[0] else rival, headline.metric))
    if exists[0]:
        return f"{value} (with {rival.style.name} it {never[1]})"
    return f"the {headline.said} {never[0]} (with {rival.style.name} {value})"
