"""What is said where more packets went by than were to be recorded."""

from rogue.reports.quantities import counted


def missed_text(missed: int) -> str:
    """Say that the bound was hit, and what to do."""
    return (
        f"the bound was hit: {counted(missed, 'more packet')} went by unrecorded; raise packets_max, "
        "or name ports, flows, from and until"
    )
