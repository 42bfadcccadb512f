"""The template environment, the style sheet and the script of all pages."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

TEMPLATES: Final = Path(__file__).parent


def environment() -> Environment:
    """Return the environment of templates; it escapes every value, and refuses undefined ones."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def style() -> Markup:
    """Return the style sheet, which every page contains."""
    return Markup((TEMPLATES / "report.css").read_text(encoding="utf-8"))


def script() -> Markup:
    """Return the script of the report's page."""
    return Markup((TEMPLATES / "report.js").read_text(encoding="utf-8"))


def script_source() -> Markup:
    """Return the source of that script for a content security policy: its SHA-256."""
    return Markup(f"'sha256-{b64encode(sha256(script().encode()).digest()).decode()}'")
