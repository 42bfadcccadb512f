"""Tests: captions of figures, and which figure shows a metric."""

import pytest

from rogue.reports.figures import FIGURES
from rogue.reports.figures.captions import SHOWN_BY_NAME, caption_of, figures_showing, latex_text
from rogue.reports.metrics import METRICS
from rogue.reports.results import Results


def test_says_what_it_shows_conditions_runs_and_origin(results: Results) -> None:
    figure = FIGURES["throughput"]()
    caption = caption_of(figure, results)
    manifest = results.run.manifest
    for words in (figure.title, figure.caption, manifest.title, manifest.run_id, "testbed simulator"):
        assert words in caption.plain
    assert "n = 2 to 3; seeds 1 to 3." in caption.plain, "a repetition failed"
    assert f"Commit {(manifest.git.commit or '')[:12]}" in caption.plain
    assert "\n" not in caption.plain
    assert caption.latex == f"\\caption{{{latex_text(caption.plain)}}}"


def test_seeds_far_apart_are_not_counted_through(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next(iter(results.views.values())).entry, "seed", -(2**62))
    assert "seeds -4611686018427387904" in caption_of(FIGURES["throughput"](), results).plain


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("100 % of a_b & c#1", r"100 \% of a\_b \& c\#1"),
        ("\\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("$x^2$ ~", r"\$x\textasciicircum{}2\$ \textasciitilde{}"),
        ("5\u202fµs ≤ 3 ×", r"5\,\ensuremath{\mu}s \ensuremath{\le} 3 \ensuremath{\times}"),
        ("“agent’s”", r"\textquotedblleft{}agent\textquoteright{}s\textquotedblright{}"),
        ("Müller, Åsa, Łukasz, 北", "M\\\"{u}ller, \\r{A}sa, ?ukasz, ?"),
        ("a\tb\x07", "a b "),
        ("½", "1/2"),
    ],
)  # fmt: skip
def test_latex_prints_what_stands_there(text: str, latex: str) -> None:
    assert latex_text(text) == latex
    assert latex.isascii()


def test_figures_are_those_of_the_registry_and_metrics_exist() -> None:
    assert set(SHOWN_BY_NAME) <= set(FIGURES)
    for begins in SHOWN_BY_NAME.values():
        for begin in begins:
            assert any(name.startswith(begin) for name in METRICS), begin


@pytest.mark.parametrize(
    ("metric", "first"),
    [("probe_p50_ns", "probe_latency"), ("jain", "flow_shares"), ("aggregate_bps", "throughput")],
)
def test_best_figure_first(results: Results, metric: str, first: str) -> None:
    found = [name for name in figures_showing(metric, results) if name not in {"bars", "factor_sweep"}]
    assert found[0] == first


def test_a_sweep_shows_its_headlines(sweep: Results) -> None:
    assert figures_showing("aggregate_share", sweep)[0] == "factor_sweep"
    assert figures_showing("drops_packets", sweep) == []
