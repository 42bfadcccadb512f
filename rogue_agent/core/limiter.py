"""The rate limiter as software sees it: the rate it really applies, and how far one write may move it."""

from rogue.agent.core.link import LinkFacts


class Limiter:
    """Decides whether a target rate is worth a write, and what to ask for.

    A write moves the rate by at most `change_max_bps`, in either direction, and never beyond the line rate.
    It is omitted when the limiter, which rounds up to its step, would end where it already is: each write
    costs a hold-off. The first write is not bounded: it installs the first window's rate before anything is
    posted.

    Source: RoGUE, section 3.3.  Test: test_limiter.py::test_worked_example.
    Deviation: the paper lets the first window out at line rate and limits what follows; software cannot
    stop after ten packets inside one 64 KiB verb, so the first rate is set before the first post.
    """

    __slots__ = ("_change_max_bps", "_is_first", "_line_rate_bps", "_step_bps")

    def __init__(self, link: LinkFacts, change_max_bps: int) -> None:
        self._line_rate_bps = link.line_rate_bps
        self._step_bps = link.rate_step_bps
        self._change_max_bps = change_max_bps
        self._is_first = True

    def restart(self) -> None:
        """The next write is not bounded and not omitted: it installs the rate of a first window once more."""
        self._is_first = True

    def request(self, target_bps: float, now_bps: int, coming_bps: int | None = None) -> int | None:
        """Return the rate to program on the way from the rate in force, None when a write changes nothing.

        `coming_bps` is what was asked for before and acts later; a rate that is no longer wanted is replaced.
        """
        rate_bps = self.preview(target_bps, now_bps, coming_bps)
        self._is_first = False
        return rate_bps

    def preview(self, target_bps: float, now_bps: int, coming_bps: int | None = None) -> int | None:
        """Return what `request` would, without asking."""
        if self._is_first:
            return self._possible(target_bps)
        low_bps, high_bps = now_bps - self._change_max_bps, now_bps + self._change_max_bps
        rate_bps = self._possible(min(max(target_bps, low_bps), high_bps))
        expected_bps = now_bps if coming_bps is None else coming_bps
        return rate_bps if self.rounded_up(rate_bps) != expected_bps else None

    def rounded_up(self, rate_bps: int) -> int:
        """Return the rate that the limiter makes of a request."""
        if self._step_bps == 0:
            return rate_bps
        return min(-(-rate_bps // self._step_bps) * self._step_bps, self._line_rate_bps)

    def _possible(self, rate_bps: float) -> int:
        """Return the nearest rate to program: at most the line rate, and not 0, which means no limit."""
        return max(1, round(min(rate_bps, self._line_rate_bps)))
