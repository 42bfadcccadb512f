"""Orders and accounts survive their files."""

import pytest

from rogue.agent.node.errors import MessageError
from rogue.agent.node.messages import Results
from rogue.agent.node.orders import Account, Command, Orders, RoleOrder, TimedCommand

ROLE = RoleOrder("flow0-requester", "requester", "flow0-responder", "{}", ["{}"], 5, 10, 0)


def test_orders() -> None:
    orders = Orders([Command(["tc", "-batch", "-"], "qdisc")], [ROLE], {"s0->h0": "p0b"}, 1, 2, 3, 4, 5)
    assert Orders.read(orders.text()) == orders


def test_orders_with_things_that_happen_and_are_counted() -> None:
    down, show = Command(["ip", "link", "set", "dev", "p0b", "down"]), Command(["tc", "-s", "qdisc", "show"])
    timed = [TimedCommand(5, show, "p0b 0"), TimedCommand(5, down)]
    orders = Orders([], [ROLE], {}, 3, 1, 2, 3, 4, timed, {"all": show})
    assert Orders.read(orders.text()) == orders


def test_an_account() -> None:
    account = Account(start_ns=7, results={"flow0-requester": Results("flow0-requester", "ok", 1, 2)})
    assert Account.read(account.text()) == account
    assert Account.read(Account("timeout", "late").text()).failure == "late"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "account: got '', expected JSON"),
        ("[]", r"account: got \[\], expected an object"),
        ('{"start": 1}', "account: unknown fields 'start'"),
        ('{"start_ns": "now"}', "account.start_ns: got 'now', expected an integer"),
        ('{"failure_kind": "war"}', "account.failure_kind: got 'war'"),
        ('{"results": {"flow0": []}}', "account.results: got .*, expected an object with a Results"),
        ('{"results": {"flow0": {}}}', "account.results.flow0: missing fields"),
    ],
)
def test_what_is_no_account_is_refused_by_its_field(text: str, words: str) -> None:
    with pytest.raises(MessageError, match=words):
        Account.read(text)
