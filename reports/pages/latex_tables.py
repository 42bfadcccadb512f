r"""The report's tables for a paper: LaTeX with the rules of booktabs, to be read with `\input`."""

from typing import Final

from rogue.reports.claims.links import table_anchor
from rogue.reports.figures.captions import latex_text
from rogue.reports.pages.tables import Head, ReportTable, Value, metric_tables
from rogue.reports.results import Results

SETTINGS_BESIDE_MAX: Final = 5
"""Of so many settings each has a column and each measure a row; of more it is the other way round."""


def latex_tables(results: Results) -> dict[str, str]:
    """Return the text of each table of means by the name of its file, `table-goodput.tex`."""
    return {f"{table_anchor(table.title)}.tex": latex_table(table) for table in metric_tables(results)}


def latex_table(table: ReportTable) -> str:
    r"""Return one table as a `tabular`, below a comment with what its numbers are."""
    heads = [_with_unit(head) for head in table.head]
    rows = [[_field(value) for value in row] for row in table.rows]
    labels = table.labels
    lines = [heads, *rows]
    if len(rows) <= SETTINGS_BESIDE_MAX:
        lines, labels = [list(column) for column in zip(*lines, strict=True)], 1
    body = [f"{' & '.join(line)} \\\\" for line in lines]
    columns = "l" * labels + "r" * (len(lines[0]) - labels)
    rules = [body[0], "\\midrule", *body[1:]]
    return "\n".join(
        [
            f"% {latex_text(table.title)}. {latex_text(table.caption)}",
            "% In the preamble: \\usepackage{booktabs}",
            f"\\begin{{tabular}}{{{columns}}}",
            "\\toprule",
            *rules,
            "\\bottomrule",
            "\\end{tabular}",
            "",
        ]
    )


def _with_unit(head: Head) -> str:
    return latex_text(f"{head.text} ({head.unit})" if head.unit else head.text)


def _field(value: Value) -> str:
    note = f" {{\\footnotesize ({latex_text(value.note)})}}" if value.note else ""
    return f"{latex_text(value.text)}{note}"
