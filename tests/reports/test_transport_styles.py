"""Contract of the style table: all transports look different, on white and on dark paper."""

from itertools import combinations
from pathlib import Path

import pytest
import yaml

from rogue.reports.transport_styles import (
    DARK_PARTNERS,
    GRID,
    ON_MUCH,
    PAPER,
    SHADE_COLOURS,
    SPARE_COLOURS,
    TRANSPORT_STYLES,
    style_of,
    styles_of,
)
from rogue.workloads.transports import parse_transport

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


def luminance(colour: str) -> float:
    """Relative luminance. Source: WCAG 2.2."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize(
    "colour", [c for c in DARK_PARTNERS if c not in {GRID, PAPER, ON_MUCH, *SHADE_COLOURS}]
)
def test_lines_are_seen_on_both_papers(colour: str) -> None:
    assert contrast(colour, PAPER) >= 3
    assert contrast(DARK_PARTNERS[colour], DARK_PARTNERS[PAPER]) >= 3


@pytest.mark.parametrize("name", TRANSPORT_STYLES)
def test_registered_transports_exist(name: str) -> None:
    assert str(parse_transport(name)) == name


def test_no_two_transports_look_alike() -> None:
    for one, other in combinations(TRANSPORT_STYLES.values(), 2):
        assert one.name != other.name
        assert one.colour != other.colour
        assert one.marker != other.marker


def test_the_two_of_every_first_run_differ_without_colour() -> None:
    assert TRANSPORT_STYLES["rogue"].line != TRANSPORT_STYLES["roce"].line


@pytest.mark.parametrize("kind", ["protanopia", "deuteranopia"])
def test_the_two_of_every_first_run_differ_to_the_colour_blind(kind: str) -> None:
    """Source: Machado, Oliveira and Fernandes, 2009, table of matrices at severity 1."""
    matrices = {
        "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
        "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    }

    def seen(colour: str) -> list[float]:
        channels = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
        return [sum(w * c for w, c in zip(row, channels, strict=True)) for row in matrices[kind]]

    one, other = seen(TRANSPORT_STYLES["rogue"].colour), seen(TRANSPORT_STYLES["roce"].colour)
    assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 80


def test_unknown_transport_gets_the_same_look_every_time() -> None:
    assert style_of("vegas") == style_of("vegas")
    assert style_of("vegas").name == "vegas"
    assert style_of("vegas").colour not in {style.colour for style in TRANSPORT_STYLES.values()}


def test_label_is_used_as_written_and_a_variant_is_named_after_its_transport() -> None:
    variant = style_of("rogue", "rogue-25us")
    assert variant.name == "rogue-25us"
    assert style_of("rogue", "rogue,variant=new,cwnd_initial_packets=50").name == "RoGUE (new)"
    assert style_of("roce+dcqcn", "dctcp").name == "dctcp", "a label, although a transport has that name"
    assert style_of("rogue", "rogue") == style_of("rogue")


def test_variant_has_the_colour_of_its_transport_only_where_that_is_free() -> None:
    alone = styles_of([("rogue", "rogue-25us")])["rogue-25us"]
    beside = styles_of([("rogue", "rogue-25us"), ("rogue", "rogue")])
    assert alone.colour == style_of("rogue").colour
    assert beside["rogue"] == style_of("rogue")
    assert beside["rogue-25us"].colour not in {style.colour for style in TRANSPORT_STYLES.values()}


def test_a_transport_of_the_table_looks_the_same_in_every_run() -> None:
    others = [("x", "x"), ("irn+pfc", "irn+pfc"), ("dctcp", "own")]
    for name, style in TRANSPORT_STYLES.items():
        assert styles_of([*others, (name, name)])[name] == style


@pytest.mark.parametrize("count", [12, 40, 120])
def test_transports_of_a_run_look_different(count: int) -> None:
    styles = list(styles_of([(f"t{n}", f"t{n}") for n in range(count)]).values())
    assert len({style.colour for style in styles}) == min(count, len(SPARE_COLOURS))
    assert len({(style.colour, style.marker, style.line) for style in styles}) == count
    markers = [style.marker for style in styles[:12]]
    assert len(set(markers)) == len(markers)


def test_styles_come_in_the_order_of_the_run_and_twice_the_same() -> None:
    names = [("vegas", "vegas"), ("rogue", "rogue"), ("homa", "homa")]
    assert list(styles_of(names)) == ["vegas", "rogue", "homa"]
    assert styles_of([*names, *names]) == styles_of(names)


def test_every_colour_has_a_dark_partner() -> None:
    for name in (*TRANSPORT_STYLES, "vegas", "homa", "ndp"):
        style = style_of(name)
        assert DARK_PARTNERS[style.colour] == style.colour_dark


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("irn+timely+pfc", "IRN with TIMELY and PFC"),
        ("roce-lossy", "RoCE, lossy"),
        ("roce-go-back-0", "RoCE, go-back-0"),
        ("resilient_roce", "Resilient RoCE"),
        ("roce-lossy+dcqcn", "RoCE, lossy, with DCQCN"),
        ("irn-nobdp", "IRN without cap"),
        ("roce+swift", "RoCE with Swift"),
        ("vegas", "vegas"),
        ("roce+vegas", "roce+vegas"),
    ],
)
def test_display_names(name: str, said: str) -> None:
    assert style_of(name).name == said


def test_parameters_are_named_if_they_tell_two_transports_apart() -> None:
    timely, rogue = "roce+timely+pfc,variant=ns3-rdma,initial_rate=9.5Gbps", "rogue,rtt_noise=5us"
    names = {
        label: style.name
        for label, style in styles_of(
            [("roce+timely+pfc", timely), ("rogue", rogue), ("rogue", "rogue"), ("roce", "roce")]
        ).items()
    }
    assert names == {
        timely: "RoCE with TIMELY and PFC (ns3-rdma)",
        rogue: "RoGUE (rtt_noise=5us)",
        "rogue": "RoGUE",
        "roce": "Native RoCE without PFC",
    }
    assert style_of("roce+timely+pfc", "by packets").name == "by packets"


@pytest.mark.parametrize("name", TRANSPORT_STYLES)
def test_flow_control_changes_line_and_marker_but_not_colour(name: str) -> None:
    if "+pfc" not in name and f"{name}+pfc" not in TRANSPORT_STYLES:
        plain, paused = style_of(name), style_of(f"{name}+pfc")
        assert paused.colour == plain.colour
        assert (paused.line != plain.line) and (paused.marker != plain.marker)


def labelled(choice: str | dict[str, object]) -> tuple[str, str]:
    """Name and label of a transport as an experiment file has it."""
    if isinstance(choice, str):
        return choice, choice
    own = [f"{key}={value}" for key, value in choice.items() if key not in ("name", "label")]
    return str(choice["name"]), str(choice.get("label") or ",".join([str(choice["name"]), *own]))


@pytest.mark.parametrize("file", sorted(EXPERIMENTS.rglob("*.yaml")), ids=lambda file: file.stem)
def test_transports_of_a_shipped_experiment_are_distinguishable(file: Path) -> None:
    choices = [labelled(each) for each in yaml.safe_load(file.read_text())["transports"]]
    styles = list(styles_of(choices).values())
    assert len({style.colour for style in styles}) == len(choices)
    assert len({style.marker for style in styles}) == len(choices)
