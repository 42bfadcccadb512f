from rogue.harness.provisioning.playbook_events import PlaybookResult, is_task_start, task_title


def event(kind: str, **data: object) -> dict[str, object]:
    return {"event": kind, "event_data": {"role": "tcp", "task": "tcp : DCTCP", "host": "h1", **data}}


def test_changes_are_counted_per_node_and_thing() -> None:
    played = PlaybookResult()
    played.add(event("runner_on_ok", res={"changed": True, "changes": ["sysctls a", "sysctls b"]}))
    played.add(event("runner_on_ok", res={"changed": True}))
    played.add(event("runner_on_ok", host="h0", res={"changed": False, "changes": []}))
    assert played.changes == {"h1": ["sysctls a", "sysctls b", "something"]}
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
