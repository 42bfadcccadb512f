"""A sender of Ultra Ethernet, whose acknowledgements a test provides."""

from importlib import import_module

FRAME = 4_000
US = 1_000_000
BASE_US = 12


class Window:
    """A sender with all its packets posted, whose acknowledgements a test provides."""

    def __init__(self, **parameters: float) -> None:
        values = {"header_bytes": 0, "window_packets": 10, **parameters}
        requester = import_module("rogue.simulator._reference").Requester
        self._requester = requester("uet", mtu_bytes=FRAME, parameters=values)
        self._requester.post(1_000 * FRAME)
        self._come = 0
        self._fill()

    def _fill(self) -> None:
        while self._requester.send(0) is not None:
            pass

    @property
    def bytes(self) -> int:
        window_bytes: float = self._requester.metrics()["window_bytes"]
        return round(window_bytes)

    @property
    def average_delay_ns(self) -> float:
        return float(self._requester.metrics()["average_delay_ns"])

    def acknowledged(
        self, at_us: float, delay_us: float, packets: int = 1, *, is_marked: bool = False, asked: bool = False
    ) -> int:
        """Acknowledge the next packets, the last of which had this queueing delay; return the window.

        `asked`: the acknowledgement answers a request for credit instead of that packet.
        """
        self._come += packets
        self._requester.on_acknowledgement(
            now_ps=round(at_us * US),
            expected=self._come,
            bitmap=(self._come + 1, 0, self._come - 1, self._come * FRAME),
            echoes_mark=is_marked,
            is_of_request=asked,
            echoed_ps=round((at_us - BASE_US - delay_us) * US),
        )
        self._fill()
        return self.bytes

    def trimmed(self, at_us: float) -> int:
        """Refuse the oldest packet; return the window."""
        self._requester.on_acknowledgement(
            now_ps=round(at_us * US),
            expected=self._come,
            bitmap=(0, 0, self._come, 0),
            is_negative=True,
            echoed_ps=round((at_us - BASE_US) * US),
        )
        return self.bytes

    def times_out(self, at_us: float) -> int:
        self._requester.on_deadline(round(at_us * US))
        return self.bytes
