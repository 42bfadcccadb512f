"""Units of vendors, and values that do not fit into them."""


def whole_percent(probability: float) -> int:
    """A probability, where only whole percent can be said."""
    return round(100 * probability)


def percent_mistake(probability: float) -> str | None:
    """Why a probability is no whole percent; None if it is one."""
    if abs(100 * probability - whole_percent(probability)) < 1e-9 and whole_percent(probability) >= 1:
        return None
    return f"got probability {probability:g}, expected whole percent, such as 0.01"


def kilobytes_mistake(count_bytes: int, unit_bytes: int) -> str | None:
    """Why bytes are no whole number of a vendor's kilobytes; None if they are."""
    if count_bytes % unit_bytes == 0:
        return None
    return f"got {count_bytes} bytes, expected a multiple of {unit_bytes}"
