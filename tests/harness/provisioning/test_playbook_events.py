"""Tests: reduce Ansible's events to progress and failures, and display them."""

import io
import re

from rich.console import Console

from rogue.harness.provisioning.playbook_events import PlaybookResult, TaskDisplay, is_task_start, task_title


def event(kind: str, **data: object) -> dict[str, object]:
    return {"event": kind, "event_data": {"role": "tcp", "task": "tcp : DCTCP", "host": "h1", **data}}


def test_changes_are_counted_per_node_and_thing() -> None:
    played = PlaybookResult()
    played.add(event("runner_on_ok", res={"changed": True, "changes": ["sysctls a", "sysctls b"]}))
    played.add(event("runner_on_ok", res={"changed": True}))
    played.add(event("runner_on_ok", host="h0", res={"changed": False, "changes": []}))
    assert played.changes == {"h1": ["sysctls a", "sysctls b", "tcp: DCTCP"]}
    assert played.changed == 3


def test_a_failure_says_node_task_and_why() -> None:
    played = PlaybookResult()
    played.add(event("runner_on_failed", res={"msg": "sysctl a:\n this kernel has none such"}))
    played.add(event("runner_on_unreachable", host="h2", res={"msg": "Connection timed out"}))
    assert list(map(str, played.failures)) == [
        "h1: tcp: DCTCP: sysctl a: this kernel has none such",
        "h2: tcp: DCTCP: cannot be reached: Connection timed out",
    ]


def test_the_wrapping_of_what_ssh_says_is_taken_off() -> None:
    wrapped = (
        'Task failed: Data could not be sent to remote host "127.0.0.1". Make sure this host can be reached'
    )
    played = PlaybookResult()
    said = "ssh: connect to host 127.0.0.1 port 1: Connection refused"
    played.add(event("runner_on_unreachable", res={"msg": f"{wrapped} over ssh: {said}"}))
    expected = "h1: tcp: DCTCP: cannot be reached: connect to host 127.0.0.1 port 1: Connection refused"
    assert str(played.failures[0]) == expected


def test_a_module_without_a_result_is_told_by_what_it_printed() -> None:
    played = PlaybookResult()
    result = {"msg": "Task failed: Module result deserialization failed.", "module_stderr": "", "rc": 137}
    played.add(event("runner_on_failed", res={**result, "module_stdout": "Killed\n"}))
    played.add(event("runner_on_failed", res=result))
    assert [failure.message for failure in played.failures] == [
        "the module ended without a result (exit code 137); it printed: Killed",
        "the module ended without a result (exit code 137); it printed: nothing",
    ]


def test_wrong_arguments_of_a_role_are_told() -> None:
    played = PlaybookResult()
    result = {"msg": "Validation of arguments failed:", "argument_errors": ["missing required arguments: a"]}
    played.add(event("runner_on_failed", res=result))
    assert "missing required arguments: a" in played.failures[0].message


def test_an_ignored_failure_is_none() -> None:
    played = PlaybookResult()
    played.add(event("runner_on_failed", ignore_errors=True, res={"msg": "no"}))
    assert played.failures == []


def test_facts_and_ansibles_own_words_are_kept() -> None:
    played = PlaybookResult()
    played.add(event("runner_on_ok", res={"facts": {"kernel": "6.1"}}))
    played.add({"event": "error", "stdout": "ERROR! no such\n file"})
    assert (played.facts, played.complaints) == ({"h1": {"kernel": "6.1"}}, ["ERROR! no such file"])


def test_what_ansible_checks_by_itself_is_no_task_to_wait_for() -> None:
    assert is_task_start(event("playbook_on_task_start"))
    assert not is_task_start(
        event("playbook_on_task_start", task="Validating arguments against arg spec 'main'")
    )
    assert not is_task_start(event("runner_on_start"))
    assert task_title({"task": "Look"}) == "Look"


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
