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


_STAY: dict[State, set[Event]] = {
    State.OPEN: {Event.SUBMITTED, Event.POSTED, Event.RATE_SET, Event.COMPLETED},
    State.BROKEN: {Event.SUBMITTED, Event.RATE_SET, Event.COMPLETED, Event.QP_ERROR},
    State.FLUSHING: {Event.SUBMITTED, Event.RATE_SET, Event.ERRED, Event.QP_ERROR},
    State.STRANDED: {Event.SUBMITTED, Event.RATE_SET},
    State.FAILED: {Event.SUBMITTED, Event.RATE_SET, Event.COMPLETED, Event.ERRED, Event.QP_ERROR},
}
_MOVE: dict[State, dict[Event, State]] = {
    State.OPEN: {
        Event.REFUSED: State.BROKEN,
        Event.QP_ERROR: State.BROKEN,
        Event.ERRED: State.FLUSHING,
        Event.GAVE_UP: State.FAILED,
    },
    State.BROKEN: {
        Event.ERRED: State.FLUSHING,
        Event.SWITCHED: State.OPEN,
        Event.BOTH_LOST: State.STRANDED,
        **dict.fromkeys((Event.EMPTIED, Event.TIMED_OUT, Event.GAVE_UP), State.FAILED),
    },
    State.FLUSHING: {
        Event.SWITCHED: State.OPEN,
        Event.BOTH_LOST: State.STRANDED,
        **dict.fromkeys((Event.EMPTIED, Event.TIMED_OUT), State.FAILED),
    },
    State.STRANDED: {Event.RECOVERED: State.OPEN, Event.GAVE_UP: State.FAILED},
    State.FAILED: {},
}
TRANSITIONS: dict[tuple[State, Event], State] = {
    (state, event): target
    for state in State
    for event, target in {**dict.fromkeys(_STAY[state], state), **_MOVE[state]}.items()
}


def next_state(state: State, event: Event) -> State | None:
    """Return the state after an event, None when the event is impossible in this state."""
    return TRANSITIONS.get((state, event))
