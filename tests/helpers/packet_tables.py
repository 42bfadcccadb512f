"""Tables of packets between two hosts and a switch, from a line for each packet."""

import pandas as pd
from helpers.small_runs import filled

FLOW = "main/h0->h1"
FRAME_BYTES = {"write": 1086, "ack": 66, "nak": 66, "cnp": 78, "read_request": 78, "read_response": 1086}


def packet_table(*lines: str, flow: str = FLOW, qp_num: int = 2) -> pd.DataFrame:
    """Return the table of lines such as `1.5 write 4 dropped`: microseconds, kind, number, flags.

    Each packet leaves its host, and 2 us later the switch unless it is dropped. `dropped` and `marked` are
    columns, all other words are flags. WRITEs go from h0 to h1, READ responses and replies from h1 to h0.
    """
    rows = []
    for line in lines:
        at, kind, *words = line.split()
        psn = int(words.pop(0)) if words and words[0].lstrip("-").isdigit() else None
        src, dst = ("h0", "h1") if kind in ("write", "read_request") else ("h1", "h0")
        numbers = {"src_qp_num": qp_num, "qp_num": qp_num + 1}
        if src == "h1":
            numbers = {"src_qp_num": qp_num + 1, "qp_num": qp_num}
        row: dict[str, object] = {
            "kind": kind, "flow_id": flow, "service": "rc", "src": src, "dst": dst, "psn": psn, **numbers,
            "bytes": FRAME_BYTES[kind], "payload_bytes": 1024 if FRAME_BYTES[kind] > 1000 else 0,
            "flags": " ".join(word for word in words if word not in ("dropped", "marked")) or None,
            "marked": "marked" in words, "message_bytes": 16384,
        }  # fmt: skip
        is_lost = "dropped" in words
        t_ps = round(float(at) * 1e6)
        rows.append({**row, "t_ps": t_ps, "node": src, "port": f"{src}->s0", "dropped": is_lost,
                     "reason": "event" if is_lost else None})  # fmt: skip
        if not is_lost:
            rows.append({**row, "t_ps": t_ps + 2_000_000, "node": "s0", "port": f"s0->{dst}"})
    table = pd.DataFrame(filled("packets", rows))
    return table.sort_values("t_ps", kind="stable", ignore_index=True)


ONE_LOSS = (
    "1 write 0 first", "2 write 1", "3 write 2 dropped", "4 write 3", "5 write 4 last ack_request",
    "8.5 nak 2", "11 write 2", "12 write 3", "13 write 4 last ack_request", "16.5 ack 4",
)  # fmt: skip
"""A message of five packets whose third one is lost, and recovered by go-back-N."""
