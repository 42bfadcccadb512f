"""What a plug-in calls to add a format of another simulator, when its file is loaded."""

from typing import Final

from rogue.harness.data.format_contract import format_faults
from rogue.harness.data.formats import FORMATS, OURS
from rogue.harness.data.formats.format import Format
from rogue.workloads.registration import CONTRACTS, add

__all__ = ["register_format"]

KIND: Final = "format"


def register_format(name: str, form: Format) -> None:
    """Let `rogue import` name a format."""
    if not isinstance(form, Format):
        raise ValueError(f"{form!r} as a format, expected Format(meaning, becomes, read, write)")
    if form.becomes not in OURS:
        raise ValueError(f"a format that becomes {form.becomes!r}, expected one of {', '.join(OURS)}")
    add(KIND, name, form, FORMATS)


CONTRACTS[KIND] = format_faults
