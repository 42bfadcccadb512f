"""Networks in files: what is read, and the one sentence for each kind of nonsense."""

from functools import partial

import pytest
from helpers.experiments import NETWORK, link_list
from helpers.experiments import refusal as refusal_of

from rogue.harness.data import network
from rogue.harness.data.network import network_text, read_network

refusal = partial(refusal_of, read_network, "net.yaml")
GOOD = "links:\n  - {link: h0-s0, rate: 1Gbps}\n  - {link: h1-s0, rate: 1Gbps}\n"


def test_nodes_are_sorted_by_number_and_links_are_not() -> None:
    found = link_list("links:\n- {rate: 1.5Gbps, link: s10-h2}\n- {link: h10-s10, rate: 1Gbps, delay: 0s}\n")
    assert (found.hosts, found.switches) == (("h2", "h10"), ("s10",))
    assert found.links == (("s10", "h2", 1_500_000_000, None), ("h10", "s10", 10**9, 0))


def test_document_markers_are_allowed() -> None:
    assert link_list(f"---\n{GOOD}...\n").links == link_list(GOOD).links


def test_network_can_be_written_and_read_again() -> None:
    found = link_list(NETWORK.read_text())
    assert link_list(network_text(found)).links == found.links


STEERING = "a control character in line 4 of net.yaml, expected printable text"
BAD = {
    "  - {link: h2-s0}": "nothing in line 4, key rate of net.yaml, expected links: a list of mappings",
    "  - {rate: 1Gbps}": "nothing in line 4, key link of net.yaml",
    "  - {link: h2-s0, rate: 0bps}": "0bps in line 4, key rate of net.yaml, expected a rate above zero",
    "  - {link: h2-s0, rate: 10}": "10 in line 4, key rate of net.yaml, expected a rate with a unit",
    "  - {link: h2-s0, rate: 99Tbps}": "99Tbps in line 4, key rate of net.yaml, expected at most 10T",
    "  - {link: h2-s0, rate: 1Gbps, delay: 11s}": "11s in line 4, key delay of net.yaml",
    "  - {link: h2-s0, rate: 1Gbps, dealy: 1us}": "the key dealy in line 4 of net.yaml",
    "  - {link: h2-s0, rate: 1Gbps, rate: 2Gbps}": "the key links[2].rate twice in line 4 of net.yaml",
    "  - {link: h0-s1, rate: 1Gbps}": "h0 a second time in line 4, key link of net.yaml, expected one link",
    "  - {link: s0-h0, rate: 1Gbps}": "s0-h0 again in line 4, key link of net.yaml, expected one link",
    "  - {link: h2-h3, rate: 1Gbps}": "h2-h3 in line 4, key link of net.yaml, expected a host and a switch",
    "  - {link: gpu0-s0, rate: 1Gbps}": "gpu0-s0 in line 4, key link of net.yaml, expected two ends",
    '  - {link: "h2-s0\\e", rate: 1Gbps}': STEERING,
    "  - {link: h2-s1, rate: 1Gbps}": "h2-s1, which no path connects with h0, in line 4, key link",
    "  - [h2, s0]": "other YAML in line 4 of net.yaml",
    "  - {link: [h2, s0], rate: 1Gbps}": "other YAML in line 4",
    "---\nlinks: []": "a second document in line 4 of net.yaml",
    "  - {link: h2-s0": "text that is not YAML (did not find expected ',' or '}') in line 5 of net.yaml",
}


@pytest.mark.parametrize("line", BAD)
def test_wrong_link_names_line_and_key(line: str) -> None:
    assert refusal(f"{GOOD}{line}\n").startswith(BAD[line])


def test_mistake_names_the_link_within_a_line() -> None:
    links = "{link: h0-s0, rate: 1Gbps}, {link: h1-s0, rate: 1Gbps}"
    host = refusal(f"links: [{links}, {{link: h0-s1, rate: 1Gbps}}]")
    assert host.startswith("h0 a second time in line 1, key link of net.yaml, expected one link of a host")
    again = refusal(f"links: [{links}, {{link: s0-s1, rate: 1Gbps}}, {{link: s1-s0, rate: 1Gbps}}]")
    assert again.startswith("s1-s0 again in line 1, key link of net.yaml, expected one link, as in line 1")


def test_alias_is_a_link_in_the_line_of_the_alias() -> None:
    first = "links:\n- &l {link: h0-s0, rate: 10Gbps}\n"
    again = refusal(f"{first}- {{link: h1-s0, rate: 1Gbps}}\n- *l\n")
    assert again.startswith("h0-s0 again in line 4, key link of net.yaml, expected one link, as in line 2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{GOOD}---\n3", "one network per file"),
        ("links: [&l [[[[[[[[[[[[[[[[[]", "a flat file"),
        (f"{GOOD}  - {{link: h2-s0", "YAML"),
    ],
    ids=["two documents", "deep", "open"],
)
def test_text_that_is_not_yaml_names_the_shape_of_a_network(text: str, expected: str) -> None:
    assert f", expected {expected} (links: a list of mappings such as {{link: h0-s0," in refusal(text)


def test_other_yaml_is_refused() -> None:
    for text in ("", "3", "links: 3", "links: []", "links: {a: 1}", "- 1", "hosts: 3\nlinks: []", "&a [*a]"):
        assert "net.yaml" in refusal(text)
    assert refusal("links: [{link: h0-s0, rate: 1Gbps}]").startswith(
        "1 in net.yaml, expected 2 to 65536 hosts"
    )


def test_too_large_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "TEXT_BYTES_MAX", 10)
    assert refusal(GOOD).endswith("expected at most 10; take links away")
