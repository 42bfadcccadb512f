"""What links may lead to in a page of the docs."""

import re
from pathlib import Path


def anchors(page: Path) -> set[str]:
    """What a page's headings are called in links, by GitHub's rule."""
    heads = [line.lstrip("# ") for line in page.read_text().splitlines() if line.startswith("#")]
    words = (re.sub(r"[^\w\- ]", "", head.lower()) for head in heads)
    return {head.replace(" ", "-") for head in words}
