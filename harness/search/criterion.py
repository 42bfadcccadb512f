"""What a find shows, as one line at the head of its file, which stays an ordinary experiment."""

import json
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from rogue.harness.errors import UsageError
from rogue.harness.search.space import Aim
from rogue.harness.search.values import Target
from rogue.reports.reading.files import read_regular
from rogue.workloads.bounded_json import parse_json

MARK: Final = "# aim: "
_LACKS: Final = f"expected a line that begins with {MARK!r}, as finds of `rogue search` have it"


def criterion(aim: Aim, target: Target) -> str:
    """Return what is looked at and what counts, as a comment of one line."""
    said = aim.model_copy(update={"direction": target.direction, "bound": target.bound})
    return MARK + json.dumps(said.model_dump(mode="json", exclude_none=True))


def read_criterion(file: Path) -> Aim:
    """Read that line of a find; UsageError if there is none, or it says nothing that can be judged."""
    lines = read_regular(file).decode(errors="replace").splitlines()
    found = next((line for line in lines if line.startswith(MARK)), None)
    if found is None:
        raise UsageError(f"{file}: got no aim, {_LACKS}.")
    try:
        aim = Aim.model_validate(parse_json(found.removeprefix(MARK).encode()))
    except (ValueError, ValidationError) as error:
        raise UsageError(f"{file}: got an aim that cannot be read, {_LACKS}.") from error
    if aim.bound is None:
        raise UsageError(f"{file}: got an aim without bound, expected the value from which it is a find.")
    return aim
