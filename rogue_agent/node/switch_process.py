"""The process of a Linux switch's role: watches the packets of one cell."""

import json
from contextlib import ExitStack

from rogue.agent.node.data_process import DataProcess, open_end
from rogue.agent.node.fields import MessageError
from rogue.agent.node.messages import Message, Result, Results, RoleRequest, Start, Started, Watch, Watching
from rogue.agent.node.packet_watch import PacketWatch, WatchOrders
from rogue.agent.node.role import NodeContext


class SwitchProcess(DataProcess):
    """Serves `watch`, `start` and `result`; what was watched is in files of its result."""

    def __init__(self, source: int, sink: int, context: NodeContext) -> None:
        super().__init__(source, sink, context, open_end)
        self._orders = ""
        self._watch: PacketWatch | None = None
        self._start_ns = 0

    def _handle(self, request: RoleRequest, stack: ExitStack) -> Message:
        if isinstance(request, Watch):
            self._orders += request.part
            if request.is_last:
                log = self._context.spool.directory / f"{request.role}-events.log"
                self._watch = PacketWatch(WatchOrders.read(json.loads(self._orders)), log, stack)
            return Watching(request.role)
        if self._watch is None:
            raise MessageError(f"{request.wire_type} before the last part of watch")
        if isinstance(request, Start):
            self._start_ns = request.start_ns
            self._watch.start(request.start_ns)
            return Started(request.role)
        if isinstance(request, Result):
            return self._result(request.role, self._watch)
        raise MessageError(f"{request.wire_type}: got it for a switch, expected watch, start or result")

    def _result(self, role: str, watch: PacketWatch) -> Results:
        """End the watch, and write the files `packets` and `struck`."""
        self._watch = None
        watched = watch.close()
        files = {"packets": watched.packets, "struck": json.dumps(watched.struck).encode()}
        spool = self._context.spool
        for name, content in files.items():
            spool.paths[name] = spool.directory / f"{role}-{name}"
            spool.paths[name].write_bytes(content)
        end_ns = self._context.clock()
        results = Results(role, "idle", self._start_ns, end_ns, facts={"packets_missed": watched.missed})
        return self._with_files(results)
