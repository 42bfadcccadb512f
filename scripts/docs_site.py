"""Add generated pages to the documentation site: an mkdocs hook (`make docs`)."""

import re
from pathlib import Path
from typing import Final

import reference_conformance
import reference_experiments
import reference_pages
import reference_results
import reference_transports
import uet_htsim_report
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from rogue.reports.board import best_evidence, board_page, read_earlier
from rogue.reports.claims import read_claims

ROOT: Final = Path(__file__).parents[1]
CLAIMS: Final = ROOT / "docs/claims/claims.json"
SAMPLE: Final = ROOT / ".cache/docs/sample-report.html"
"""The report of the quickstart, which `make docs` runs once."""
PAGES: Final = {
    "reference/experiment.md": reference_experiments.generated,
    "reference/transports.md": reference_transports.generated,
    "reference/results.md": reference_results.generated,
    "reference/commands.md": reference_pages.commands_page,
    "reference/conformance.md": reference_conformance.generated,
    "reference/python.md": reference_pages.python_page,
    "reference/uet-htsim-cases.md": uet_htsim_report.generated,
}


LINK: Final = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of a folder where the navigation names the folder with a slash."""
    for section in config.nav or []:
        for title, folder in section.items():
            if isinstance(folder, str) and folder.endswith("/"):
                pages = sorted((ROOT / "docs" / folder).glob("*.md"))
                section[title] = sorted((f"{folder}{page.name}" for page in pages), key=_index_first)
    return config


def _index_first(path: str) -> tuple[bool, str]:
    return not path.endswith("/index.md"), path


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference pages, the claims board and the sample report."""
    for path, generated in PAGES.items():
        files.append(File.generated(config, path, content=generated()))
    files.append(File.generated(config, "claims/index.html", content=claims_board()))
    sample = SAMPLE.read_bytes() if SAMPLE.exists() else b"<p>`make docs` puts a report here."
    files.append(File.generated(config, "sample-report.html", content=sample))
    return files


def claims_board() -> str:
    """Return the board of the committed verdicts, with links to pages of the site."""
    claims = read_claims()
    board = best_evidence(claims, read_earlier(CLAIMS, claims).judged)
    return board_page(board, CLAIMS.parent).replace('.md"', '.html"').replace(".md#", ".html#")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace links that lead out of `docs`, which a site cannot follow, by the path of the file."""
    here = (ROOT / "docs" / page.file.src_uri).parent

    def replaced(link: re.Match[str]) -> str:
        target = (here / link[2]).resolve()
        if not target.is_relative_to(ROOT / "docs"):
            if not target.exists():
                raise FileNotFoundError(f"{page.file.src_uri}: {link[0]} leads nowhere")
            path = str(target.relative_to(ROOT))
            return f"`{path}`" if path.endswith(link[1].strip("`")) else f"{link[1]} (`{path}`)"
        return link[0]

    return LINK.sub(replaced, markdown)
