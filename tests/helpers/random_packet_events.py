"""Random packet events on some flows, and whether the packets of a run show exactly them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pandas as pd

ACTIONS = ("drop", "mark", "corrupt", "delay", "duplicate", "reorder")
Event = Mapping[str, Any]


def random_events(
    seed: int, flows: Sequence[str], packets: int, *, count: int = 50, delay: str = "20us"
) -> list[Event]:
    """Return events for different packets; every fifth is for the second transmission of a dropped one.

    packets: of each flow.
    """
    random = Random(seed)
    places = random.sample([(flow, psn) for flow in flows for psn in range(packets)], count)
    events: list[dict[str, Any]] = []
    for number, (flow, psn) in enumerate(places):
        do = random.choice(ACTIONS)
        amount = {"delay": delay, "duplicate": random.randint(1, 3), "reorder": 1}.get(do)
        event = {"kind": "packet_event", "flow": flow, "psn": psn, "do": do, "amount": amount}
        if number % 5 == 4:
            event |= {"flow": events[-1]["flow"], "psn": events[-1]["psn"], "transmission": 2}
        elif number % 5 == 3:
            event |= {"do": "drop", "amount": None}
        events.append({key: value for key, value in event.items() if value is not None})
    return list(events)


def numbered(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the number of the transmission to the rows of one port."""
    return rows.assign(transmission=rows.groupby(["flow_id", "psn"]).cumcount() + 1)


def check_exactly_struck(
    events: Sequence[Event], packets: pd.DataFrame, senders: Sequence[str], last: str, delay_ns: int = 20_000
) -> None:
    """Assert that exactly the named transmissions of WRITEs were struck.

    senders: ports of the hosts that send. last: the port to the only receiver.
    """
    data = packets[packets["kind"] == "write"]
    came = pd.concat([numbered(data[data["port"] == port]) for port in senders])
    went = numbered(data[data["port"] == last])
    keys = {(each["flow"], each["psn"], each.get("transmission", 1)): each for each in events}
    there = set(zip(came["flow_id"], came["psn"], came["transmission"], strict=True)) & keys.keys()
    assert len(there) == len(events) == len(keys)

    def named(*actions: str) -> set[tuple[str, int, int]]:
        return {key for key in there if keys[key]["do"] in actions}

    def found(rows: pd.DataFrame) -> set[tuple[str, int, int]]:
        return set(zip(rows["flow_id"], rows["psn"], rows["transmission"], strict=True))

    assert found(came[came["reason"] == "event"]) == named("drop")
    assert found(came[came["flags"].str.contains("corrupt")]) == named("corrupt")
    assert not (packets["dropped"] & (packets["reason"] != "event")).any()
    sent, left = (Counter(zip(rows["flow_id"], rows["psn"], strict=True)) for rows in (came, went))
    more = {key[:2]: keys[key]["amount"] for key in named("duplicate")}
    less = Counter(key[:2] for key in named("drop"))
    assert left == Counter({each: sent[each] + more.get(each, 0) - less[each] for each in sent}) + Counter()
    came_ns, went_ns = (rows.groupby(["flow_id", "psn"])["t_ps"].max() // 1000 for rows in (came, went))
    late = set(went_ns[went_ns - came_ns >= delay_ns].index)
    assert {key[:2] for key in named("delay") if sent[key[:2]] == key[2]} <= late
    assert Counter(zip(*(went[went["marked"]][name] for name in ("flow_id", "psn")), strict=True)) == Counter(
        key[:2] for key in named("mark")
    )


def written(events: Sequence[Event]) -> str:
    """Return the setting of an experiment with these faults."""
    texts = (", ".join(f"{key}: {value}" for key, value in each.items()) for each in events)
    return f"faults=[{', '.join('{' + text + '}' for text in texts)}]"
