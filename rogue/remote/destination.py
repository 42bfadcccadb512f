"""What an inventory says about how to reach a node; the user's SSH configuration says the rest."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rogue.remote.home import at_home

_OF_THE_USER: Final = ("~/.ssh/config", "/etc/ssh/ssh_config")
NO_CONFIG: Final = "none"


@dataclass(frozen=True, slots=True)
class Destination:
    """How SSH is called for a node; None and empty leave it to the SSH configuration."""

    node: str
    name: str
    """An address, or what the SSH configuration calls the node."""
    port: int | None = None
    user: str | None = None
    key_file: Path | None = None
    known_hosts: Path | None = None
    """Where the keys of the node, and of every host on the way, stand."""
    first_arguments: tuple[str, ...] = ()
    """Arguments of SSH; of two that say the same, the first counts."""
    arguments: tuple[str, ...] = ()
    config: str = ""
    """The SSH configuration: a file, `none`, or empty for the user's and the system's."""

    def config_text(self) -> str:
        """An SSH configuration that reads the one asked for, but accepts no host key that is not known.

        SSH hands its configuration on to the SSH that goes to a jump host, and nothing else. So this is what
        makes keys count at every hop. Source: ssh_config(5): the first value that is found counts.
        """
        lines = ["Host *", "  StrictHostKeyChecking yes", "  BatchMode yes"]
        if self.known_hosts is not None:
            lines += [f'  UserKnownHostsFile "{self.known_hosts}"', "  GlobalKnownHostsFile none"]
        if self.config != NO_CONFIG:
            files = (str(at_home(self.config).absolute()),) if self.config else _OF_THE_USER
            lines += [f'Include "{file}"' if self.config else f"Include {file}" for file in files]
        return "".join(f"{line}\n" for line in lines)


def without_config(arguments: Iterable[str]) -> tuple[tuple[str, ...], str]:
    """Arguments of SSH without -F, and the configuration that the last -F names."""
    rest, config = [], ""
    remaining = iter(arguments)
    for argument in remaining:
        if argument.startswith("-F"):
            config = argument[2:] or next(remaining, "")
        else:
            rest.append(argument)
    return tuple(rest), config
