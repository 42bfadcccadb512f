from rogue.harness.errors import Problem
from rogue.harness.provisioning.inventory_errors import grouped

NODES = ("h0", "h1", "h2", "h10", "tor")


def wrong(key: str, got: str = "bond0") -> Problem:
    return Problem("nodes.yaml", key, got, "one card", "take it out")


def test_a_mistake_of_a_group_is_one_sentence_with_its_nodes_in_order() -> None:
    found = grouped((wrong(f"{node}.experiment_interface") for node in ("h10", "h0", "h2")), NODES)
    assert [str(each) for each in found] == [
        "nodes.yaml: experiment_interface of h0, h2, h10: got bond0, expected one card; take it out."
    ]


def test_one_node_keeps_its_path_and_other_mistakes_stay_apart() -> None:
    problems = [
        wrong("h0.experiment_interface"),
        wrong("h1.experiment_interface", "team0"),
        wrong("h1.other"),
    ]
    assert grouped(problems, NODES) == problems


def test_what_is_no_node_s_is_not_taken_apart() -> None:
    problems = [wrong("hosts"), wrong("nobody.experiment_interface"), wrong("h0")]
    assert grouped(problems, NODES) == problems


def test_names_with_dots_are_names() -> None:
    """Of `h0` and `h0.lab.org` the longer one is meant, and keys have dots of their own."""
    nodes = ("h0", "h0.lab.org", "h1.lab.org")
    found = grouped((wrong(f"{node}.ports.0.interface") for node in nodes[1:]), nodes)
    assert [each.key for each in found] == ["ports.0.interface of h0.lab.org, h1.lab.org"]
    both = [wrong("h0.lab"), wrong("h0.lab.org.interface", "team0")]
    assert grouped(both, nodes) == both
