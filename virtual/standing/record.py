"""What a testbed that is up is made of, as its directory tells it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rogue.virtual.machines.qemu import Accelerator
from rogue.virtual.network import VirtualNetwork

_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Record:
    """Network, accelerator, and the SSH port of each machine on 127.0.0.1."""

    network: VirtualNetwork
    accelerator: Accelerator
    ssh_ports: dict[str, int]


def write_record(path: Path, record: Record) -> None:
    """Write it whole or not at all."""
    content = {
        "format": _FORMAT,
        "hosts": record.network.hosts,
        "switches": record.network.switches,
        "cables": record.network.cables,
        "accelerator": record.accelerator.value,
        "ssh_ports": record.ssh_ports,
    }
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(content, indent=1) + "\n")
    fresh.rename(path)


def read_record(path: Path) -> Record | None:
    """Read it; None if there is none, or if another version of this program wrote it."""
    try:
        content = json.loads(path.read_text())
        if content["format"] != _FORMAT:
            return None
        cables = tuple((str(a), str(b)) for a, b in content["cables"])
        return Record(
            VirtualNetwork(tuple(content["hosts"]), tuple(content["switches"]), cables),
            Accelerator(content["accelerator"]),
            {str(name): int(port) for name, port in content["ssh_ports"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
