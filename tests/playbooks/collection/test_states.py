import base64
import hashlib
from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.states import Wanted, drift, establish, restore
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_node import FakeNode
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TREE = ["qdisc add dev eth1 root handle 1: htb default 10", "class add dev eth1 parent 1: classid 1:10 htb"]


def file(text: str, mode: str = "0644") -> dict[str, str]:
    content = text.encode()
    return {
        "content": base64.b64encode(content).decode(),
        "sha256": hashlib.sha256(content).hexdigest(),
        "mode": mode,
    }


EVERYTHING: Wanted = {
    "packages": {"rdma": ["iproute2", "perftest"]},
    "kernel_modules": {"ib_uverbs": True, "rdma_rxe": True},
    "sysctls": {"net.ipv4.tcp_ecn": "1"},
    "mtu": {"eth1": 4300},
    "soft_roce": {"eth1": "rxe0"},
    "traffic_control": {"eth1": TREE},
    "directories": {"/opt/rogue": True},
    "files": {"/opt/rogue/agent": file("the agent", "0755")},
}


def put(node: FakeNode, wanted: Wanted, owner: str = "role", *, check: bool = False) -> list[str]:
    return sorted(establish(node, Ledger(node), owner, wanted, check).before)


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    return FakeNode(tmp_path)


def test_everything_is_established_once_and_put_back(node: FakeNode) -> None:
    before = node.state()
    assert put(node, EVERYTHING) == [
        "directories /opt/rogue",
        "files /opt/rogue/agent",
        "kernel_modules ib_uverbs",
        "kernel_modules rdma_rxe",
        "mtu eth1",
        "packages rdma (perftest)",
        "soft_roce eth1",
        "sysctls net.ipv4.tcp_ecn",
        "traffic_control eth1",
    ]
    assert node.rdma_links == {"rxe0": "eth1"}
    assert node.trees["eth1"] == TREE
    assert node.path("/opt/rogue/agent").read_text() == "the agent"
    assert node.path("/opt/rogue/agent").stat().st_mode & 0o777 == 0o755
    assert {"perftest", "libibumad3"} <= node.packages
    provisioned = node.state()
    assert put(node, EVERYTHING) == []
    assert node.state() == provisioned
    assert not restore(node, Ledger(node), check=False).failures
    after = node.state()
    empty = {"files": {}, "var": None, "var/lib": None, "opt": None}
    assert {**after, "files": {k: v for k, v in after["files"].items() if k not in empty}} == before  # type: ignore[attr-defined]


def test_check_mode_says_the_same_and_touches_nothing(node: FakeNode) -> None:
    before = node.state()
    would = put(node, EVERYTHING, check=True)
    assert node.state() == before
    assert would == put(node, EVERYTHING)


def test_what_was_there_before_the_first_run_is_put_back_after_several(node: FakeNode) -> None:
    put(node, {"mtu": {"eth1": 4300}})
    put(node, {"mtu": {"eth1": 9000}})
    restore(node, Ledger(node), check=False)
    assert node.read("/sys/class/net/eth1/mtu") == "1500\n"


def test_what_a_role_no_longer_wants_is_put_back(node: FakeNode) -> None:
    put(node, {"mtu": {"eth0": 4300, "eth1": 4300}})
    put(node, {"soft_roce": {"eth1": "rxe0"}}, owner="another")
    assert put(node, {"mtu": {"eth1": 4300}}) == ["mtu eth0"]
    assert node.read("/sys/class/net/eth0/mtu") == "1500\n"
    assert node.rdma_links == {"rxe0": "eth1"}


def test_what_is_there_already_is_not_ours_to_take_away(node: FakeNode) -> None:
    node.rdma_links = {"mlx5_0": "eth1"}
    assert put(node, {"soft_roce": {"eth1": "rxe0"}}) == []
    restore(node, Ledger(node), check=False)
    assert node.rdma_links == {"mlx5_0": "eth1"}


def test_a_change_is_written_down_before_it_is_made(node: FakeNode) -> None:
    with pytest.raises(StateError, match="Command failed"):
        put(node, {"traffic_control": {"eth1": [*TREE, "qdisc add dev eth1 parent 1:10 red limit 0"]}})
    (entry,) = Ledger(node).entries
    assert (entry.kind, entry.after) == ("traffic_control", None)
    assert drift(node, Ledger(node)) == ["traffic_control eth1 (never finished)"]
    assert put(node, {"traffic_control": {"eth1": TREE}}) == ["traffic_control eth1"]
    assert drift(node, Ledger(node)) == []


def test_a_first_change_that_came_to_nothing_is_not_written_down(node: FakeNode) -> None:
    """Its teardown would know nothing of it; and what people then do by hand, as they are told, is theirs."""
    wanted: Wanted = {"packages": {"rdma": ["nowhere"]}}
    with pytest.raises(StateError, match=r"install them by hand"):
        put(node, wanted)
    assert Ledger(node).entries == []
    node.packages.add("nowhere")
    assert put(node, wanted) == []
    assert not restore(node, Ledger(node), check=False).failures
    assert "nowhere" in node.packages


def test_what_was_cut_off_before_anything_was_there_is_made_by_the_next(node: FakeNode) -> None:
    """Nothing is there, as nothing was written down to have been there afterwards."""
    wanted: Wanted = {"soft_roce": {"eth1": "rxe0"}, "files": {"/opt/agent": file("the agent")}}
    node.path("/opt").mkdir()
    put(node, wanted)
    ledger = Ledger(node)
    for entry in ledger.entries:
        entry.after = None
        ledger.write(entry)
    node.rdma_links.clear()
    node.path("/opt/agent").unlink()
    assert put(node, wanted) == ["files /opt/agent", "soft_roce eth1"]
    assert node.rdma_links == {"rxe0": "eth1"}
    assert node.path("/opt/agent").read_text() == "the agent"


def test_a_file_that_cannot_be_written_is_not_written_down(node: FakeNode) -> None:
    node.write("/opt/rogue", "a file where a directory should be")
    with pytest.raises(OSError, match="rogue"):
        put(node, {"files": {"/opt/rogue/agent": file("the agent")}})
    assert Ledger(node).entries == []


def test_one_thing_that_cannot_be_put_back_does_not_keep_the_others(node: FakeNode) -> None:
    put(node, {"mtu": {"eth1": 4300}, "kernel_modules": {"rdma_rxe": True}})
    node.write("/sys/module/rdma_rxe/in_use", "1")
    changes = restore(node, Ledger(node), check=False)
    assert len(changes.failures) == 1
    assert changes.failures[0].startswith("kernel_modules rdma_rxe: ")
    assert [entry.kind for entry in Ledger(node).entries] == ["kernel_modules"]
    assert node.read("/sys/class/net/eth1/mtu") == "1500\n"


def test_what_somebody_changed_since_is_named_and_set_again(node: FakeNode) -> None:
    put(node, EVERYTHING)
    node.write("/proc/sys/net/ipv4/tcp_ecn", "0\n")
    node.trees["eth1"].append("class add dev eth1 parent 1: classid 1:99 htb")
    found = ["sysctls net.ipv4.tcp_ecn", "traffic_control eth1"]
    assert sorted(drift(node, Ledger(node))) == found
    assert put(node, EVERYTHING) == found
    assert drift(node, Ledger(node)) == []


WANTED = st.fixed_dictionaries(
    {},
    optional={
        "mtu": st.dictionaries(st.sampled_from(["eth0", "eth1"]), st.sampled_from([1500, 4300, 9000])),
        "sysctls": st.dictionaries(st.just("net.ipv4.tcp_ecn"), st.sampled_from(["0", "1", "2"])),
        "soft_roce": st.dictionaries(st.sampled_from(["eth0", "eth1"]), st.just("rxe0"), max_size=1),
        "traffic_control": st.dictionaries(st.just("eth1"), st.sampled_from([TREE, TREE[:1]])),
    },
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs=st.lists(WANTED, min_size=1, max_size=4))
def test_whatever_was_provisioned_in_whatever_order_teardown_restores(
    tmp_path_factory: pytest.TempPathFactory, runs: list[Wanted]
) -> None:
    node = FakeNode(tmp_path_factory.mktemp("node"))
    before = node.state()
    for wanted in runs:
        put(node, wanted)
        assert put(node, wanted) == []
    assert not restore(node, Ledger(node), check=False).failures
    after = node.state()
    assert {k: v for k, v in after.items() if k != "files"} == {
        k: v for k, v in before.items() if k != "files"
    }
    assert {k: v for k, v in after["files"].items() if not k.startswith("var")} == before["files"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "key", "value", "words"),
    [
        ("packages", "base", ["-oDPkg::Pre-Invoke::=id"], "got '-oDPkg::Pre-Invoke::=id', expected the name"),
        ("packages", "base", ["openssh-server-"], "got 'openssh-server-', expected the name of a package"),
        ("packages", "base", ["./mine.deb"], "got './mine.deb', expected the name of a package"),
        ("kernel_modules", "-C/tmp", True, "kernel module: got '-C/tmp', expected its name"),
        ("kernel_modules", "/tmp/mine.ko", True, "kernel module: got '/tmp/mine.ko', expected its name"),
        ("mtu", "../../../tmp/eth1", 1500, "interface '../../../tmp/eth1': expected its name"),
        ("mtu", "..", 1500, "interface '..': expected its name"),
        ("soft_roce", "eth1", "--batch", "soft_roce_device: got '--batch', expected a name such as rxe0"),
        ("soft_roce", "-d", "rxe0", "interface '-d': expected its name"),
        ("traffic_control", "eth1", [f"{TREE[0]}\nqdisc del dev eth0 root"], "expected one line for tc"),
        ("traffic_control", "eth1", [*TREE, "qdisc del dev eth0 root"], "got 'qdisc del dev eth0 root'"),
        ("roce_mode", "eth 1", {"mode": "RoCE v2", "tos": "0"}, "interface 'eth 1': expected its name"),
        ("card_rates", "eth1\n", True, "interface 'eth1\\n': expected its name"),
    ],
)
def test_what_would_be_another_word_line_or_file_is_refused_before_anything_is_done(
    node: FakeNode, kind: str, key: str, value: object, words: str
) -> None:
    before = node.state()
    with pytest.raises(StateError) as caught:
        put(node, {"sysctls": {"net.ipv4.tcp_ecn": "1"}, kind: {key: value}})
    assert words in str(caught.value)
    assert (node.state(), node.commands) == (before, [])
