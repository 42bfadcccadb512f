"""Text for LaTeX."""

import pytest

from rogue.reports.latex import latex_text


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
