"""A sender of Ultra Ethernet whose window is looked at."""

from rogue.simulator._core import Requester

FRAME = 4_000
US = 1_000_000
BASE_US = 12


class Window:
    """A sender with all its packets posted, which is told what became of them."""

    def __init__(self, **parameters: float) -> None:
        values = {"header_bytes": 0, "window_packets": 10, **parameters}
        self._requester = Requester("uet", mtu_bytes=FRAME, parameters=values)
        self._requester.post(1_000 * FRAME)
        self._come = 0
        self._fill()

    def _fill(self) -> None:
        while self._requester.send(0) is not None:
            pass

    @property
    def bytes(self) -> int:
        return round(self._requester.metrics()["window_bytes"])

    @property
    def average_delay_ns(self) -> float:
        return self._requester.metrics()["average_delay_ns"]

    def acknowledged(
        self, at_us: float, delay_us: float, packets: int = 1, *, is_marked: bool = False, asked: bool = False
    ) -> int:
        """An acknowledgement of the next packets, the last of which met that delay; the window then.

        `asked`: it answers a request for credit instead of that last packet.
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
        """A refusal of the oldest packet; the window then."""
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
