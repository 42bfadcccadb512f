"""Makes the end that a `prepare` asks for."""

from contextlib import ExitStack

from rogue_agent.core.errors import SettingsError
from rogue_agent.core.transports import settings_for
from rogue_agent.drivers.limiters import LIMITERS
from rogue_agent.drivers.limiters.base import COLUMNS, PacedInterface, RateLimiter
from rogue_agent.drivers.verbs.discovery import PortAddress, find_port
from rogue_agent.drivers.verbs.endpoint import opened
from rogue_agent.node.end import End, Workplace
from rogue_agent.node.messages import KERNEL_TCPS, Prepare
from rogue_agent.node.tcp_end import TcpReceiverEnd, TcpSenderEnd
from rogue_agent.node.verbs_end import Foundation, VerbsEnd
from rogue_agent.node.verbs_peer import NO_LIMITER, endpoint_plan
from rogue_agent.node.verbs_requester import VerbsRequester
from rogue_agent.node.verbs_responder import VerbsResponderEnd


def open_end(request: Prepare, workplace: Workplace, stack: ExitStack) -> End:
    """Open an end; leaving the stack gives everything back."""
    if request.transport in KERNEL_TCPS:
        end_class = TcpSenderEnd if request.end == "requester" else TcpReceiverEnd
        end = end_class(request, workplace)
        stack.callback(end.close)
        return end
    return _open_verbs_end(request, workplace, stack)


def _open_verbs_end(request: Prepare, workplace: Workplace, stack: ExitStack) -> VerbsEnd:
    """Find the port of the experiment address and open an endpoint on it, filled as asked."""
    pyverbs = workplace.pyverbs()
    port = find_port(request.address, workplace.sysfs, workplace.ports)
    line_rate_bps = request.line_rate_bps or port.rate_bps
    settings = settings_for(request.transport, line_rate_bps, request.parameters)
    if settings.service == "uc" and request.verb == "read":
        raise SettingsError("verb", "read", "write or send: an unreliable connection has no READ")
    plan = endpoint_plan(request, settings)
    endpoint = stack.enter_context(opened(pyverbs, port, plan, workplace.stamp))
    if request.fill_seed is not None:
        endpoint.buffer.fill(request.fill_seed)
    limiter = _limiter(request, port, line_rate_bps, workplace, stack)
    end_class = VerbsRequester if request.end == "requester" else VerbsResponderEnd
    return end_class(Foundation(request, workplace, settings, line_rate_bps, endpoint, limiter))


def _limiter(
    request: Prepare, port: PortAddress, line_rate_bps: int, workplace: Workplace, stack: ExitStack
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
    paced = PacedInterface(
        port.netdev, port.driver, request.priority, line_rate_bps, request.limiter_burst_bytes
    )
    table = workplace.spool.table("limiter", COLUMNS)
    limiter = LIMITERS[request.limiter](table, workplace.poller, paced)
    stack.callback(limiter.close)
    return limiter
