import pytest

from rogue.agent.node.fields import Rule, rules_of
from rogue.agent.node.messages import REPLIES, Message, Prepare, RoleRequest, Start
from rogue.agent.node.wire import REPLY_TYPES, REQUEST_TYPES

MESSAGES = [*REQUEST_TYPES.values(), *REPLY_TYPES.values()]


@pytest.mark.parametrize("message_class", MESSAGES, ids=lambda each: each.wire_type)
def test_every_field_of_every_message_has_a_rule_and_a_message_a_docstring(
    message_class: type[Message],
) -> None:
    assert message_class.__doc__
    assert all(isinstance(rule, Rule) for rule, _ in rules_of(message_class).values())


def test_every_message_has_its_own_type_on_the_wire() -> None:
    assert len({each.wire_type for each in MESSAGES}) == len(MESSAGES)


def test_every_request_for_a_role_has_a_time_limit() -> None:
    requests = [each for each in REPLIES if issubclass(each, RoleRequest)]
    assert {each.wire_type for each in requests} == {
        "prepare",
        "connect",
        "load",
        "after",
        "arrivals",
        "start",
        "heartbeat",
        "result",
        "end_role",
    }
    assert all("time_limit_ms" in rules_of(each) for each in requests)


def test_a_message_is_never_changed_after_it_was_checked() -> None:
    message = Start("mover", 1_000, 5, 6)
    with pytest.raises(AttributeError):
        message.run_ns = 7  # type: ignore[misc]


def test_turns_are_taken_at_limiters_apart() -> None:
    rule, _ = rules_of(Prepare)["turns"]
    assert rule.allows([1, 2])
    assert not rule.allows([1, 1])
    assert "all different" in rule.expected
