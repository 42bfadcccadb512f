"""Tables for LaTeX."""

import subprocess
from pathlib import Path

import pytest
from helpers.needs import path_of

from rogue.reports.pages.tables import Head, ReportTable, Value, latex_table, latex_tables
from rogue.reports.results import Results


def table(rows: int) -> ReportTable:
    """Return a table with a row per transport."""
    head = (Head("Transport"), Head("n"), Head("Of the ideal", "%"))
    values = tuple(
        (Value(f"A_{n}"), Value("5"), Value("9\u202f001", "8\u202f999 to 9\u202f003")) for n in range(rows)
    )
    return ReportTable("Goodput & more", "Mean over n runs.", 1, head, values, "x.csv", "data:,")


def test_few_transports_stand_beside_each_other_with_units_and_intervals() -> None:
    assert latex_table(table(2)) == (
        "% Goodput \\& more. Mean over n runs.\n"
        "% In the preamble: \\usepackage{booktabs}\n"
        "\\begin{tabular}{lrr}\n"
        "\\toprule\n"
        "Transport & A\\_0 & A\\_1 \\\\\n"
        "\\midrule\n"
        "n & 5 & 5 \\\\\n"
        "Of the ideal (\\%) & 9\\,001 {\\footnotesize (8\\,999 to 9\\,003)}"
        " & 9\\,001 {\\footnotesize (8\\,999 to 9\\,003)} \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
    )


def test_many_transports_are_rows() -> None:
    lines = latex_table(table(6)).splitlines()
    assert lines[2] == "\\begin{tabular}{lrr}"
    assert lines[4] == "Transport & n & Of the ideal (\\%) \\\\"
    assert len(lines) == 5 + 1 + 6 + 2


@pytest.mark.needs("pdflatex")
def test_latex_takes_them(sweep: Results, tmp_path: Path) -> None:
    """With plain rules: Debian's texlive-latex-base has no booktabs."""
    files = latex_tables(sweep)
    assert "table-delay-and-queue.tex" in files
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    rules = [f"\\newcommand{{\\{name}rule}}{{\\hline}}" for name in ("top", "mid", "bottom")]
    lines = ["\\documentclass{article}", *rules, "\\begin{document}"]
    lines += [f"\\input{{{name}}}\n" for name in files]
    (tmp_path / "paper.tex").write_text("\n".join([*lines, "\\end{document}\n"]))
    command = [path_of("pdflatex"), "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout[-2000:]
