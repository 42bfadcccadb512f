"""Orders and accounts survive their files."""

from rogue_agent.node.messages import Results
from rogue_agent.node.orders import Account, Command, Orders, RoleOrder, TimedCommand

ROLE = RoleOrder("flow0-requester", "requester", "flow0-responder", "{}", ["{}"], 5, 10, 0)


def test_orders() -> None:
    orders = Orders([Command(["tc", "-batch", "-"], "qdisc")], [ROLE], {"s0->h0": "p0b"}, 1, 2, 3, 4, 5)
    assert Orders.read(orders.text()) == orders


def test_orders_with_things_that_happen_and_are_counted() -> None:
    down, show = Command(["ip", "link", "set", "dev", "p0b", "down"]), Command(["tc", "-s", "qdisc", "show"])
    orders = Orders([], [ROLE], {}, 3, 1, 2, 3, 4, [TimedCommand(5, down)], {"all": show})
    assert Orders.read(orders.text()) == orders


def test_an_account() -> None:
    account = Account(start_ns=7, results={"flow0-requester": Results("flow0-requester", "ok", 1, 2)})
    assert Account.read(account.text()) == account
    assert Account.read(Account("timeout", "late").text()).failure == "late"
