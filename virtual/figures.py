"""What a transfer between two machines came to, in lines for a person."""

from statistics import quantiles

from rogue_agent.control.messages import Results
from virtual.transfer import Outcome

_MEANINGS = {
    "waiting": "asleep until the queue has news",
    "posting": "ibv_post_send; soft-RoCE sends inside it",
    "deciding": "the core and the step around it",
    "polling": "ibv_poll_cq",
    "rearming": "taking an event, ibv_req_notify_cq",
}


def throughput_bytes_per_s(sent: Results, size_bytes: int) -> float:
    """Payload per second from the transfer's submission to its last completion."""
    return size_bytes / ((sent.end_ns - sent.start_ns) / 1e9)


def lines(outcome: Outcome) -> list[str]:
    """Describe the transfer, its RTT samples and where the requester's time went."""
    sent, size_bytes = outcome.sent, outcome.order.size_bytes
    elapsed_s = (sent.end_ns - sent.start_ns) / 1e9
    return [
        f"{outcome.order.transport}: {size_bytes / 2**20:.0f} MiB by RC WRITE in {elapsed_s:.2f} s, "
        f"{throughput_bytes_per_s(sent, size_bytes) / 1e6:.1f} MB/s; status {sent.status}",
        f"  SHA-256 at the source      {sent.sha256}",
        f"  SHA-256 at the destination {outcome.received.sha256}",
        f"  {sent.batches} batches, {sent.verbs} verbs; completions by {outcome.requester.completions}, "
        f"timestamps of the {outcome.requester.clock}'s clock, limiter {outcome.requester.limiter}",
        *_rtt_lines(outcome),
        *_time_lines(sent),
    ]


def _rtt_lines(outcome: Outcome) -> list[str]:
    accepted_us = [
        each.rtt_ns / 1e3 for each in outcome.samples if each.is_accepted and each.rtt_ns is not None
    ]
    if len(accepted_us) < 2:
        return [f"  RTT samples: {len(accepted_us)} accepted of {len(outcome.samples)}"]
    deciles = quantiles(accepted_us, n=10)
    return [
        f"  RTT samples: {len(accepted_us)} accepted of {len(outcome.samples)}; "
        f"p10 {deciles[0]:.0f}, p50 {deciles[4]:.0f}, p90 {deciles[8]:.0f} µs"
    ]


def _time_lines(sent: Results) -> list[str]:
    spent = {name: _nanoseconds(sent, f"{name}_ns") for name in _MEANINGS}
    total_ns = sum(spent.values()) or 1
    batches = sent.batches or 1
    return [
        f"  {name:9} {nanoseconds / total_ns:5.1%} {nanoseconds / 1e3 / batches:8.1f} µs per batch  "
        f"({_MEANINGS[name]})"
        for name, nanoseconds in spent.items()
    ]


def _nanoseconds(sent: Results, name: str) -> int:
    value = sent.spent[name]
    assert isinstance(value, int), f"{name} is {value!r}"
    return value
