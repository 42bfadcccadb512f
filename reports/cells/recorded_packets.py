"""The rows of the table `packets`."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import pandas as pd

FLOODED: Final = "flooded"
"""Reason of a packet that continued as copies."""


class Packet(NamedTuple):
    """The fields of a row that headers need; missing ones are 0 or empty."""

    t_ps: int
    node: str
    port: str
    kind: str
    service: str
    src: str
    dst: str
    src_qp_num: int
    qp_num: int
    psn: int
    bytes: int
    payload_bytes: int
    priority: int
    is_marked: bool
    reason: str
    flags: frozenset[str]
    message_bytes: int
    immediate: int
    selective: str
    told_priorities: int
    paused_priorities: int

    @property
    def is_lost(self) -> bool:
        """True if neither it nor a copy of it was forwarded."""
        return self.reason not in ("", FLOODED)

    @property
    def flow_number(self) -> int:
        """Return a number that both directions of a connection share."""
        return min(self.src_qp_num or self.qp_num, self.qp_num)


_TEXTS = ("node", "port", "kind", "service", "src", "dst", "reason", "selective")
_NUMBERS = (
    "t_ps", "src_qp_num", "qp_num", "psn", "bytes", "payload_bytes", "priority", "message_bytes",
    "immediate", "told_priorities", "paused_priorities",
)  # fmt: skip


def packets_of(table: pd.DataFrame) -> Iterator[Packet]:
    """Yield the rows in their order."""
    columns: dict[str, Sequence[object]] = {name: _texts(table[name]) for name in _TEXTS}
    columns |= {name: table[name].fillna(0).astype("int64").tolist() for name in _NUMBERS}
    columns["is_marked"] = table["marked"].tolist()
    sets = {text: frozenset(text.split()) for text in set(_texts(table["flags"]))}
    columns["flags"] = [sets[text] for text in _texts(table["flags"])]
    yield from map(Packet._make, zip(*(columns[name] for name in Packet._fields), strict=True))


def _texts(column: "pd.Series[str]") -> list[str]:
    return column.astype(object).where(column.notna(), "").tolist()
