"""State machine of a Connection: every legal (state, event) pair.

Without a shadow, a connection that breaks ends once its verbs are flushed, with all transfers reported. With
a shadow it is open again at once, or stranded until one of the two queue pairs has been resynchronised.
"""

from enum import Enum, unique


@unique
class State(Enum):
    """States of a connection."""

    OPEN = "verbs are posted and complete"
    BROKEN = "the queue pair is lost; completions from before may still be in the completion queue"
    FLUSHING = "a failing completion was read; only failing ones may follow"
    STRANDED = "both queue pairs are lost; neither can be posted to before it has been resynchronised"
    FAILED = "every transfer has been reported"


@unique
class Event(Enum):
    """Events that affect the state."""

    SUBMITTED = "the application submitted a transfer"
    POSTED = "the driver posted a verb"
    REFUSED = "the driver could not post a verb"
    RATE_SET = "the driver programmed the limiter"
    COMPLETED = "a signalled verb completed"
    ERRED = "a verb completed with an error, or was flushed"
    QP_ERROR = "the queue pair entered the error state"
    EMPTIED = "no posted verb is left without its completion"
    TIMED_OUT = "flushed completions are overdue"
    SWITCHED = "the other queue pair took over"
    BOTH_LOST = "the other queue pair is not ready either"
    RECOVERED = "the queue pair that is needed has been resynchronised"
    GAVE_UP = "the peer did not reply for too long"


_S, _E = State, Event

TRANSITIONS: dict[tuple[State, Event], State] = {
    (_S.OPEN, _E.SUBMITTED): _S.OPEN,
    (_S.OPEN, _E.POSTED): _S.OPEN,
    (_S.OPEN, _E.REFUSED): _S.BROKEN,
    (_S.OPEN, _E.RATE_SET): _S.OPEN,
    (_S.OPEN, _E.COMPLETED): _S.OPEN,
    (_S.OPEN, _E.ERRED): _S.FLUSHING,
    (_S.OPEN, _E.QP_ERROR): _S.BROKEN,
    (_S.BROKEN, _E.SUBMITTED): _S.BROKEN,
    (_S.BROKEN, _E.RATE_SET): _S.BROKEN,
    (_S.BROKEN, _E.COMPLETED): _S.BROKEN,
    (_S.BROKEN, _E.ERRED): _S.FLUSHING,
    (_S.BROKEN, _E.QP_ERROR): _S.BROKEN,
    (_S.BROKEN, _E.EMPTIED): _S.FAILED,
    (_S.BROKEN, _E.TIMED_OUT): _S.FAILED,
    (_S.BROKEN, _E.SWITCHED): _S.OPEN,
    (_S.BROKEN, _E.BOTH_LOST): _S.STRANDED,
    (_S.FLUSHING, _E.SUBMITTED): _S.FLUSHING,
    (_S.FLUSHING, _E.RATE_SET): _S.FLUSHING,
    (_S.FLUSHING, _E.ERRED): _S.FLUSHING,
    (_S.FLUSHING, _E.QP_ERROR): _S.FLUSHING,
    (_S.FLUSHING, _E.EMPTIED): _S.FAILED,
    (_S.FLUSHING, _E.TIMED_OUT): _S.FAILED,
    (_S.FLUSHING, _E.SWITCHED): _S.OPEN,
    (_S.FLUSHING, _E.BOTH_LOST): _S.STRANDED,
    (_S.STRANDED, _E.SUBMITTED): _S.STRANDED,
    (_S.STRANDED, _E.RATE_SET): _S.STRANDED,
    (_S.STRANDED, _E.RECOVERED): _S.OPEN,
    (_S.OPEN, _E.GAVE_UP): _S.FAILED,
    (_S.BROKEN, _E.GAVE_UP): _S.FAILED,
    (_S.STRANDED, _E.GAVE_UP): _S.FAILED,
    (_S.FAILED, _E.SUBMITTED): _S.FAILED,
    (_S.FAILED, _E.RATE_SET): _S.FAILED,
    (_S.FAILED, _E.COMPLETED): _S.FAILED,
    (_S.FAILED, _E.ERRED): _S.FAILED,
    (_S.FAILED, _E.QP_ERROR): _S.FAILED,
}


def next_state(state: State, event: Event) -> State | None:
    """Return the state after an event, None when the event is impossible in this state."""
    return TRANSITIONS.get((state, event))
