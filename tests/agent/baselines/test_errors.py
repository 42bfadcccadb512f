from rogue.agent.baselines.tcp_socket import BaselineUnavailable


def test_it_is_a_sentence_about_the_node() -> None:
    assert str(BaselineUnavailable("no dctcp here")) == "no dctcp here"
