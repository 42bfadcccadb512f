from rogue.agent.node.errors import AgentError, ErrorKind


def test_an_agents_error_carries_whose_fault_it_was() -> None:
    error = AgentError(ErrorKind.VERBS, "no such device")
    assert (error.kind, str(error)) == (ErrorKind.VERBS, "no such device")
