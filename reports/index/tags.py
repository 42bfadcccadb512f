"""Read and write the tags that a user gave to runs."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from rogue.reports.errors import ReportError
from rogue.reports.reading.files import read_regular, write_whole
from rogue.workloads.json_text import parse_json

TAGS: Final = "tags.json"


TAGS_MAX: Final = 16
"""Of one run."""


_TAG: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


Tags = dict[str, tuple[str, ...]]
"""By the id of a run."""


def read_tags(results: Path) -> Tags:
    """Return the tags of a results directory; what is none is left out."""
    try:
        content = _content(results / TAGS)
    except (OSError, ValueError):
        return {}
    return {
        run: tuple(tag for tag in tags if isinstance(tag, str) and _TAG.fullmatch(tag))[:TAGS_MAX]
        for run, tags in content.items()
        if isinstance(tags, list)
    }


def _content(path: Path) -> dict[str, JsonValue]:
    """Return what the file says; OSError or ValueError if it is no file of tags."""
    if path.is_symlink():
        raise ValueError("a link")
    content = parse_json(read_regular(path))
    if not isinstance(content, dict):
        raise ValueError("no object")
    return content


def write_tags(results: Path, run_id: str, tags: Sequence[str]) -> None:
    """Give a run these tags in place of those that it has; ReportError if one is none."""
    for tag in tags:
        if not _TAG.fullmatch(tag):
            expected = "small letters, digits, ., _ and -, up to 32, a letter or digit first"
            raise ReportError(f"tag: got {tag!r}, expected {expected}; choose another word.")
    if len(tags) > TAGS_MAX:
        raise ReportError(f"tag: got {len(tags)} tags, expected at most {TAGS_MAX}; leave some out.")
    path = results / TAGS
    try:
        _content(path)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        expected = "tags as `rogue tag` writes them"
        raise ReportError(f"{path}: got {error}, expected {expected}; correct or remove it.") from error
    known = read_tags(results) | {run_id: tuple(dict.fromkeys(tags))}
    kept = {run: list(words) for run, words in sorted(known.items()) if words}
    write_whole(path, json.dumps(kept, indent=1) + "\n")
