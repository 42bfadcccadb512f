"""What all pages share: how templates are filled in, and the style sheet."""

from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

TEMPLATES: Final = Path(__file__).parent


def environment() -> Environment:
    """Return where templates come from; every value is escaped and must be there."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def style() -> Markup:
    """Return the style sheet, which stands in every page."""
    return Markup((TEMPLATES / "report.css").read_text(encoding="utf-8"))
