"""The look of each transport: name, colour, marker and line style, the same in every figure.

The colours of the table are those of Okabe and Ito ("Color Universal Design", 2008), which people with the
common forms of colour blindness can tell apart, darkened where needed to reach a contrast of 3:1 on white.
Each has a lighter partner for dark pages. Colour is never the only difference: marker and line differ too.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from rogue.workloads.transports import NIC_CONTROLS


@dataclass(frozen=True, slots=True)
class TransportStyle:
    """The look of one transport. `line` is a dash pattern of matplotlib."""

    name: str
    colour: str
    colour_dark: str
    marker: str
    line: str = "-"


TRANSPORT_STYLES: Final[dict[str, TransportStyle]] = {
    "rogue": TransportStyle("RoGUE", "#0072b2", "#56b4e9", "o"),
    "roce": TransportStyle("Native RoCE without PFC", "#c44e00", "#ff9a57", "s", "--"),
    "rogue-uc": TransportStyle("RoGUE over UC", "#2f8fc4", "#9bd4f5", "^", "-."),
    "roce-uc": TransportStyle("Native RoCE over UC without PFC", "#a8324a", "#ff8fa3", "v", ":"),
    "roce+pfc": TransportStyle("RoCE with PFC", "#8f6a00", "#f0c53c", "D", "-."),
    "roce+dcqcn": TransportStyle("RoCE with DCQCN", "#a3487c", "#e8a0cb", "P", "--"),
    "roce+timely": TransportStyle("RoCE with TIMELY", "#5c5c9e", "#b3b3ec", "X", ":"),
    "roce+rocc": TransportStyle("RoCE with RoCC", "#3f4650", "#c3cad3", "<", "-"),
    "roce+hpcc": TransportStyle("RoCE with HPCC", "#5f5200", "#cdbf5a", ">", "--"),
    "irn": TransportStyle("IRN", "#41659b", "#a3c1ea", "h", "-."),
    "irn+dcqcn": TransportStyle("IRN with DCQCN", "#6d4191", "#c79fe8", "p", "--"),
    "iwarp": TransportStyle("iWARP", "#27715f", "#78ccb9", "d", ":"),
    "dctcp": TransportStyle("DCTCP", "#00795a", "#3fcf9f", "*", "-."),
}

# For transports that are not in the table. The order is that in which a run uses them: each is as far as a
# contrast of 3:1 on white allows from those before it and from the table, also to the colour blind.
SPARE_COLOURS: Final = (
    ("#a361fb", "#bb9bf4"),
    ("#032ebb", "#b7cffd"),
    ("#ad8073", "#d1a294"),
    ("#742e2c", "#ffbab5"),
    ("#730a7c", "#f9b1ff"),
    ("#5e8140", "#a1c783"),
    ("#bc28a4", "#ed98d9"),
    ("#5157ce", "#acb9ff"),
    ("#225c62", "#9bd5db"),
    ("#6594a9", "#86b6cd"),
    ("#483454", "#e1c9f1"),
    ("#284700", "#bce29d"),
)
_SPARE_MARKERS: Final = ("<", ">", "h", "p", "d", "o", "s", "^", "v", "D", "P", "X", "*")
_SPARE_LINES: Final = ("-", "--", "-.", ":")

INK: Final = "#1f2328"
MUTED: Final = "#59636e"
GRID: Final = "#d4dae1"
PAPER: Final = "#ffffff"
ALARM: Final = "#b3261e"

# From little to much, with the partners on a dark page; words on the first half and on the second half.
SHADES_AND_PARTNERS: Final = (
    ("#e6ebef", "#222a32"),
    ("#c7d5dc", "#33434e"),
    ("#a7bec9", "#455d6a"),
    ("#88a8b7", "#567686"),
    ("#4a7c92", "#678fa1"),
    ("#37708a", "#78a9bd"),
    ("#21607b", "#8ac3d9"),
    ("#0b4f6c", "#9bdcf5"),
)
SHADE_COLOURS: Final = [light for light, _ in SHADES_AND_PARTNERS]
ON_LITTLE: Final = "#15191e"
ON_MUCH: Final = "#fdfdfd"

# What each colour of a figure becomes on a dark page.
DARK_PARTNERS: Final[dict[str, str]] = {
    INK: "#e8ebef",
    MUTED: "#a6b0bb",
    GRID: "#3a424c",
    PAPER: "#14181d",
    ALARM: "#ff8a80",
    ON_LITTLE: "#f4f6f8",
    ON_MUCH: "#0d1013",
    **dict(SHADES_AND_PARTNERS),
    **dict(SPARE_COLOURS),
    **{style.colour: style.colour_dark for style in TRANSPORT_STYLES.values()},
}


_WORDS: Final = {
    "rogue": "RoGUE",
    "roce": "RoCE",
    "roce-lossy": "RoCE, lossy,",
    "roce-go-back-0": "RoCE, go-back-0,",
    "resilient_roce": "Resilient RoCE",
    "irn": "IRN",
    "irn-gbn": "IRN, go-back-N,",
    "irn-nobdp": "IRN without cap",
    "pfc": "PFC",
    "spray": "spraying",
    **{name: control.title or name for name, control in NIC_CONTROLS.items()},
}


def _spoken(name: str) -> str:
    """Return the display name of a transport made of known words (`irn+timely+pfc`)."""
    base, *features = name.split("+")
    if not {base, *features} <= set(_WORDS):
        return name
    said = " and ".join(_WORDS[feature] for feature in features)
    return f"{_WORDS[base]} with {said}" if features else _WORDS[base].removesuffix(",")


def style_of(transport: str, label: str | None = None) -> TransportStyle:
    """Return the style of a single transport; for those of a run use `styles_of`."""
    label = label or transport
    return styles_of([(transport, label)])[label]


def styles_of(transports: Iterable[tuple[str, str]]) -> dict[str, TransportStyle]:
    """Return the style of each transport of a run by label, from registry names and labels in order.

    Transports of the table look the same in every report. The others (with flow control, or with other
    parameters) get the colour of their base in the table if no other one of the run has it, and else a spare
    one, so that no two of a run look alike.
    """
    names = {label: transport for transport, label in transports}
    often = Counter(names.values())
    styles = {label: TRANSPORT_STYLES[label] for label in names if names[label] == label in TRANSPORT_STYLES}
    for label, transport in names.items():
        if label not in styles:
            name = _name(transport, label, is_alone=often[transport] == 1)
            styles[label] = _spare_style(transport, name, list(styles.values()))
    return {label: styles[label] for label in names}


def _spare_style(transport: str, name: str, used: Sequence[TransportStyle]) -> TransportStyle:
    """Return an unused look with the least used colour, marker and line."""
    family = TRANSPORT_STYLES.get(transport) or TRANSPORT_STYLES.get(transport.removesuffix("+pfc"))
    often = Counter(style.colour for style in used)
    colours = min(SPARE_COLOURS, key=lambda pair: often[pair[0]])
    if family is not None and not often[family.colour]:
        colours = family.colour, family.colour_dark
    alike = [*used, family] if family is not None else list(used)
    markers, lines = Counter(style.marker for style in alike), Counter(style.line for style in alike)
    taken = {(style.marker, style.line) for style in alike if style.colour == colours[0]}
    free = [pair for pair in product(_SPARE_MARKERS, _SPARE_LINES) if pair not in taken]
    marker, line = min(free, key=lambda pair: (markers[pair[0]], lines[pair[1]]))
    return TransportStyle(name, *colours, marker, line)


def _name(transport: str, label: str, *, is_alone: bool) -> str:
    """Return a label as the user wrote it; else the name of the transport and what tells it from the others.

    A transport that no other of the run has goes by its name and its `variant`; if there are more, each has
    all its parameters.
    """
    if label != transport and not label.startswith(f"{transport},"):
        return label
    known = TRANSPORT_STYLES.get(transport)
    name = known.name if known else _spoken(transport)
    parameters = label.removeprefix(transport).removeprefix(",").split(",")
    if is_alone:
        parameters = [each.removeprefix("variant=") for each in parameters if each.startswith("variant=")]
    return f"{name} ({', '.join(parameters)})" if any(parameters) else name
