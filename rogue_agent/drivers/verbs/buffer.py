"""Memory that the NIC reads from or writes into."""

import ctypes

from rogue.agent.drivers.memory import Memory
from rogue.agent.drivers.verbs.pyverbs import Pyverbs


class Buffer(Memory):
    """A registered region; `address` and `rkey` are what a peer needs to write into it."""

    def __init__(self, pyverbs: Pyverbs, protection_domain: object, size_bytes: int) -> None:
        super().__init__(size_bytes)
        access = pyverbs.enums.ibv_access_flags
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.mapped))
        self._region = pyverbs.mr.MR(
            protection_domain,
            size_bytes,
            access.IBV_ACCESS_LOCAL_WRITE | access.IBV_ACCESS_REMOTE_WRITE | access.IBV_ACCESS_REMOTE_READ,
            address=self.address,
        )
        self.lkey: int = self._region.lkey
        self.rkey: int = self._region.rkey

    def close(self) -> None:
        """Take the region away from the NIC."""
        self._region.close()
