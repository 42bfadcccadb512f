from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.states import Wanted, establish, restore
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_node import FakeNode
from helpers.fake_rpm_node import FakeRpmNode

PROXY, LINE = "http://proxy.example.org:3142", "deb [trusted=yes] file:/srv/debs ./"
CONFIGURED, LISTED = "/etc/apt/apt.conf.d/99rogue", "/etc/apt/sources.list.d/rogue.list"


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    found = FakeNode(tmp_path)
    for directory in ("/etc/apt/apt.conf.d", "/etc/apt/sources.list.d", "/var/lib"):
        found.path(directory).mkdir(parents=True)
    return found


def put(node: FakeNode, **sources: str) -> list[str]:
    wanted: Wanted = {"package_source": sources}
    return sorted(establish(node, Ledger(node), "base", wanted, False).before)


def test_apt_is_told_once_and_forgets_it_again(node: FakeNode) -> None:
    before = node.state()
    assert put(node, proxy=PROXY, repository=LINE) == ["package_source proxy", "package_source repository"]
    assert node.read(CONFIGURED) == f'Acquire::http::Proxy "{PROXY}";\nAcquire::https::Proxy "{PROXY}";\n'
    assert node.read(LISTED) == f"{LINE}\n"
    assert put(node, proxy=PROXY, repository=LINE) == []
    restore(node, Ledger(node), False)
    assert node.state() == before


def test_what_the_inventory_does_not_say_any_more_goes(node: FakeNode) -> None:
    put(node, proxy=PROXY, repository=LINE)
    put(node, repository=LINE)
    assert (node.read(CONFIGURED), node.read(LISTED)) == (None, f"{LINE}\n")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("proxy", f'{PROXY}"; DPkg::Pre-Invoke {{"id"}}; x "'),
        ("proxy", f"{PROXY}\n"),
        ("proxy", "proxy.example.org:3142"),
        ("repository", f"{LINE}\ndeb http://elsewhere ./"),
        ("repository", "file:/srv/debs ./"),
        ("repository", "deb cdrom:[Debian] ./"),
    ],
)
def test_apt_reads_no_more_than_the_one_setting(node: FakeNode, key: str, value: str) -> None:
    with pytest.raises(StateError, match=f"base_package_{key}: got .*, expected "):
        put(node, **{key: value})
    assert (node.read(CONFIGURED), node.read(LISTED)) == (None, None)


@pytest.fixture
def rpm_node(tmp_path: Path) -> FakeRpmNode:
    found = FakeRpmNode(tmp_path)
    for directory in ("/etc/yum.repos.d", "/var/lib"):
        found.path(directory).mkdir(parents=True)
    return found


def test_dnf_is_told_once_and_forgets_it_again(rpm_node: FakeRpmNode) -> None:
    before = rpm_node.state()
    words = "baseurl=file:///srv/rpms gpgcheck=0"
    assert put(rpm_node, repository=words) == ["package_source repository"]
    listed = rpm_node.read("/etc/yum.repos.d/rogue.repo")
    assert listed == "[rogue]\nname=rogue\nbaseurl=file:///srv/rpms\ngpgcheck=0\n"
    assert put(rpm_node, repository=words) == []
    restore(rpm_node, Ledger(rpm_node), False)
    assert rpm_node.state() == before


def test_what_dnf_cannot_be_told_is_said(rpm_node: FakeRpmNode) -> None:
    with pytest.raises(StateError, match=r"write `proxy=http://proxy.*` into /etc/dnf/dnf\.conf"):
        put(rpm_node, proxy=PROXY)
    with pytest.raises(StateError, match=r"got 'deb .*expected on this node dnf's own such as `baseurl="):
        put(rpm_node, repository=LINE)
    assert not restore(rpm_node, Ledger(rpm_node), False).failures
