from rogue.agent.drivers.verbs.pyverbs import VerbsError


def test_a_failed_verb_names_itself_and_its_queue_pair() -> None:
    error = VerbsError("ibv_modify_qp", "Errno: 22", 17)
    assert str(error) == "ibv_modify_qp on queue pair 17: Errno: 22"
    assert (error.verb, error.qp_num) == ("ibv_modify_qp", 17)


def test_a_verb_without_a_queue_pair_names_none() -> None:
    assert str(VerbsError("ibv_open_device", "no such device")) == "ibv_open_device: no such device"
