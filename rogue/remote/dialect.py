"""What is known of a vendor's command line before anybody logs in."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a vendor's command line talks."""

    device_type: str
    """What netmiko calls it."""
    prompt: str
    """Regular expression of the end of a line on which it waits, in any mode."""
    rejection: str
    """Regular expression that only the reply to a wrong command matches."""
