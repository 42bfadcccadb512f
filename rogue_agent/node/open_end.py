"""Open the end of a flow that a prepare request describes."""

from contextlib import ExitStack
from dataclasses import replace

from rogue.agent.core.errors import SettingsError
from rogue.agent.core.settings import TransportSettings
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.limiters import LIMITERS, SLOTS
from rogue.agent.drivers.limiters.base import COLUMNS, PacedInterface, RateLimiter
from rogue.agent.drivers.limiters.borrowed import BorrowedLimiters
from rogue.agent.drivers.verbs.discovery import find_port
from rogue.agent.drivers.verbs.endpoint import opened
from rogue.agent.node.end import End, NodeContext
from rogue.agent.node.forked import stay_near
from rogue.agent.node.messages import (
    KERNEL_TCPS,
    Prepare,
)
from rogue.agent.node.tcp_end import TcpReceiverEnd, TcpSenderEnd
from rogue.agent.node.turn_keeper import paced_interface, place_of
from rogue.agent.node.verbs_end import NO_LIMITER, VerbsContext, VerbsEnd, endpoint_plan
from rogue.agent.node.verbs_roles import VerbsRequester, VerbsResponderEnd


def open_end(request: Prepare, workplace: NodeContext, stack: ExitStack) -> End:
    """Open an end; leaving the stack gives everything back."""
    if request.transport in KERNEL_TCPS:
        end_class = TcpSenderEnd if request.end == "requester" else TcpReceiverEnd
        end = end_class(request, workplace)
        stack.callback(end.close)
        return end
    return _open_verbs_end(request, workplace, stack)


def _open_verbs_end(request: Prepare, workplace: NodeContext, stack: ExitStack) -> VerbsEnd:
    """Find the port of the experiment address and open an endpoint on it, filled as asked."""
    pyverbs = workplace.pyverbs()
    port = find_port(request.address, workplace.sysfs, workplace.ports)
    line_rate_bps = request.line_rate_bps or port.rate_bps
    settings = settings_for(request.transport, line_rate_bps, request.parameters)
    if settings.service == "uc" and request.verb == "read":
        raise SettingsError("verb", "read", "write or send: an unreliable connection has no READ")
    if request.tells and (settings.service == "uc" or request.verb == "read"):
        raise SettingsError("tells", request.tells, "nothing, but of WRITEs and SENDs over RC, or over TCP")
    processors = stay_near(port, workplace.sysfs)
    plan = endpoint_plan(request, settings)
    endpoint = stack.enter_context(opened(pyverbs, port, plan, workplace.stamp))
    if request.fill_seed is not None:
        endpoint.buffer.fill(request.fill_seed)
    turns = _turns(request, settings, workplace, stack)
    interface = replace(paced_interface(request, port), lender=None if turns is None else turns.fileno())
    limiter = _limiter(request, interface, workplace, stack)
    end_class = VerbsRequester if request.end == "requester" else VerbsResponderEnd
    return end_class(
        VerbsContext(request, workplace, settings, line_rate_bps, endpoint, limiter, turns, processors)
    )


def _turns(
    request: Prepare, settings: TransportSettings, workplace: NodeContext, stack: ExitStack
) -> BorrowedLimiters | None:
    """Come to the keeper of the card's limiters; None where each flow has its own.

    Queue pairs are moved when nothing of theirs is outstanding. Nobody can know that of responses to READs,
    and what a peer sends meanwhile is lost for good over UC.
    """
    if not request.turns:
        return None
    if settings.service != "rc" or request.end != "requester":
        raise SettingsError("turns", request.turns, "none, but for requesters over RC")
    if request.limiter not in SLOTS:
        raise SettingsError("limiter", request.limiter, f"one of {', '.join(sorted(SLOTS))} to take turns at")
    turns = BorrowedLimiters(place_of(workplace.spool.directory, request.address))
    stack.callback(turns.close)
    return turns


def _limiter(
    request: Prepare, interface: PacedInterface, workplace: NodeContext, stack: ExitStack
) -> RateLimiter | None:
    """Take the limiter of the request's priority; priority 0 is never limited."""
    if request.limiter == NO_LIMITER:
        return None
    if request.limiter not in LIMITERS:
        raise SettingsError("limiter", request.limiter, f"one of {', '.join(sorted(LIMITERS))}, none")
    if request.priority == 0:
        raise SettingsError("priority", 0, "1 to 7 where there is a limiter")
    if (request.limiter, request.end, request.verb) == ("software", "responder", "read"):
        raise SettingsError("limiter", "software", "htb or dcb: no software can hold back responses to READs")
    table = workplace.spool.late_table("limiter", COLUMNS)
    limiter = LIMITERS[request.limiter](table, workplace.poller, interface)
    stack.callback(limiter.close)
    return limiter
