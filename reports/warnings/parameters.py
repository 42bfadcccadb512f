"""Warnings about parameters outside the line rates for which they were published."""

from rogue.reports.results import Results
from rogue.reports.warnings.warning import RunWarning, some

SENTENCE = "unpublished_parameters"
REMEDY = "unpublished_remedy"
"""Facts of a cell, which its testbed wrote."""


def unpublished_parameters(results: Results) -> RunWarning | None:
    """Warn of default parameters that no source has for the line rate of the hosts."""
    found: dict[str, dict[str, None]] = {}
    remedies: dict[str, dict[str, None]] = {}
    for setting in results.measured_settings:
        facts = results.views_of(setting)[0].entry.facts
        if facts.get(SENTENCE):
            found.setdefault(str(facts[SENTENCE]), {})[setting.style.name] = None
            remedies.setdefault(str(facts.get(REMEDY)), {})[setting.style.name] = None
    if not found:
        return None
    sentences = [f"those of {some(list(names))} are {sentence}" for sentence, names in found.items()]
    advice = [f"For {some(list(names))}, {remedy}." for remedy, names in remedies.items()]
    return RunWarning(f"Defaults beyond their line rate: {'; '.join(sentences)}.", " ".join(advice))
