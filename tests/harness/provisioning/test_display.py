import io
import re

from rich.console import Console

from rogue.harness.provisioning.playbook_events import TaskDisplay


def start(task: str) -> dict[str, object]:
    return {"event": "playbook_on_task_start", "event_data": {"role": "tcp", "task": task}}


def on_node(kind: str, node: str, *, changed: bool = False) -> dict[str, object]:
    return {"event": kind, "event_data": {"host": node, "res": {"changed": changed}}}


def shown(*events: dict[str, object], terminal: bool = False) -> str:
    text = io.StringIO()
    with TaskDisplay("provisioning", 2, Console(file=text, force_terminal=terminal, width=200)) as display:
        for event in events:
            display.on_event(event)
    return text.getvalue()


def test_elsewhere_than_on_a_terminal_each_finished_task_is_a_line() -> None:
    text = shown(
        start("Load"),
        *(on_node("runner_on_start", node) for node in ("h1", "h0")),
        on_node("runner_on_ok", "h1", changed=True),
        on_node("runner_on_ok", "h0", changed=True),
        start("Validating arguments against arg spec 'main'"),
        on_node("runner_on_ok", "h0"),
        start("Set"),
        on_node("runner_on_ok", "h0"),
    )
    assert re.sub(r"\d+\.\d s", "T", text).splitlines() == [
        "[1/2] tcp: Load: changed h0, h1, T",
        "[2/2] tcp: Set: nothing to change, T",
    ]


def test_nodes_that_failed_are_named_in_the_line() -> None:
    text = shown(
        start("Load"),
        on_node("runner_on_ok", "h0", changed=True),
        on_node("runner_on_failed", "h2"),
        on_node("runner_on_unreachable", "h1"),
    )
    assert "[1/2] tcp: Load: changed h0; failed on h1, h2, " in text


def test_a_terminal_shows_task_and_nodes_that_still_work_on_it() -> None:
    text = shown(
        start("Load"), on_node("runner_on_start", "h0"), on_node("runner_on_start", "h1"), terminal=True
    )
    assert "provisioning" in text
    assert "0/2" in text
