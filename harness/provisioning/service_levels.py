"""In which priority packets of each service level leave a card: sent to another one, and counted there.

Source: perftest's `-S`; Linux, mlx5/core/en_stats.c (tx_prio3_packets) and mlx4/en_ethtool.c
(tx_prio_3_packets). No card has run this.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Final

from rogue.harness.provisioning.places import WITH_PROGRAMS
from rogue.harness.provisioning.transfers import End, transferred
from rogue.remote.errors import NodeError
from rogue.remote.shell import Shell

LEVELS: Final = range(8)
_COUNTER: Final = re.compile(r"^\s*tx_prio_?(\d)_packets: (\d+)$", re.MULTILINE)
_MOST: Final = 0.5
"""The priority that has more than this share of the packets is theirs; others have the kernel's own."""
Levels = dict[str, object]


def priorities_of_levels(shells: Mapping[str, Shell], sender: End, receiver: End) -> Levels:
    """Priority by service level, None for one of which nothing was counted; or why not, with names."""
    try:
        return {"priorities": [_priority(shells, sender, receiver, level) for level in LEVELS]}
    except NodeError as error:
        return {"reason": str(error)}


def _priority(shells: Mapping[str, Shell], sender: End, receiver: End, level: int) -> int | None:
    before = sent_packets(shells[sender.name], str(sender.port["netdev"]))
    transferred(shells, (sender, receiver), more=("-S", str(level)))
    after = sent_packets(shells[sender.name], str(sender.port["netdev"]))
    risen = {priority: count - before.get(priority, 0) for priority, count in after.items()}
    most = max(risen, key=lambda priority: risen[priority], default=None)
    return most if most is not None and risen[most] > _MOST * sum(risen.values()) else None


def sent_packets(shell: Shell, netdev: str) -> dict[int, int]:
    """Packets that left an interface, the card's own included, by priority."""
    said = shell.run(f"{WITH_PROGRAMS} ethtool -S {shlex.quote(netdev)}")
    return {int(priority): int(count) for priority, count in _COUNTER.findall(said)}
