"""Names of files in home directories."""

import os.path
from pathlib import Path


def at_home(name: str | Path) -> Path:
    """Return a path with `~` and `~user` written out; a user who is not here stays as written."""
    try:
        return Path(os.path.expanduser(name))  # noqa: PTH111 - that of pathlib raises for such a user
    except ValueError:  # a name that no user can have
        return Path(name)
