"""Captions to paste."""

import pytest

from rogue.reports.figures import FIGURES
from rogue.reports.figures.captions import caption_of, latex_text
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
