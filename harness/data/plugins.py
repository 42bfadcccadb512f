"""Let a plug-in register a format of another simulator, and check the format's contract."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from pydantic_core import PydanticCustomError

from rogue.harness.data.formats import FORMATS, OURS
from rogue.harness.data.formats.format import Converted, Format
from rogue.harness.data.source import DataSource, data_source
from rogue.workloads.printable import shortened
from rogue.workloads.registration import CONTRACTS, add

__all__ = ["register_format"]

KIND: Final = "format"
SAMPLES: Final = {
    "trace": "start_ns,src,dst,size_bytes,group\n0,h0,h1,1,a\n5,h1,h3,7,b\n5,h0,h2,9,a\n",
    "network": "links:\n  - {link: h0-s0, rate: 1Gbps}\n  - {link: h1-s0, rate: 25Gbps, delay: 3us}\n",
}
"""One file of ours of each kind."""
NONSENSE: Final = 200
_LETTERS: Final = "0129 ->.,:{}GbpsnNodesTir\n\n\0é"
_LENGTH_MAX: Final = 80


def format_faults(name: str) -> list[str]:
    """Return the first fault of each kind, of a format and of its variants by the unit of starts."""
    form = FORMATS[name]
    try:
        forms = (form, *form.start_units.values())
        return [fault for each in forms for fault in (*_faults_in_nonsense(each), *_faults_in_writing(each))]
    except Exception as error:
        return [f"it raises {type(error).__name__}: {error}"]


def _faults_in_nonsense(form: Format) -> Iterator[str]:
    """Check that any text becomes a file of ours or a mistake, and the same one each time."""
    stream = Random(1)
    texts = [
        "",
        *("".join(stream.choices(_LETTERS, k=stream.randrange(_LENGTH_MAX))) for _ in range(NONSENSE)),
    ]
    for convert in (form.read, form.write):
        for text in texts:
            if convert and _outcome(convert, text) != _outcome(convert, text):
                yield f"{text!r} was read twice, with two results"
                return


def _outcome(convert: Callable[[DataSource], Converted], text: str) -> str:
    """Return the converted text or the mistake; other exceptions pass."""
    try:
        return convert(data_source("file", text.encode())).text
    except PydanticCustomError as error:
        words = error.context or {}
        return f"got {words['got']}, expected {words['expected']}; {words['advice']}"


def _faults_in_writing(form: Format) -> Iterator[str]:
    """Write a sample of ours, read it back and write it again: both written files must agree."""
    if form.write is None:
        return
    theirs = form.write(data_source("ours", SAMPLES[form.becomes].encode())).text
    ours = form.read(data_source("theirs", theirs.encode())).text
    OURS[form.becomes](data_source("ours again", ours.encode()))
    again = form.write(data_source("ours again", ours.encode())).text
    if again != theirs:
        yield f"what is written, read and written again says {shortened(again)}, not {shortened(theirs)}"


def register_format(name: str, form: Format) -> None:
    """Let `rogue import` name a format."""
    if not isinstance(form, Format):
        raise ValueError(f"{form!r} as a format, expected Format(meaning, becomes, read, write)")
    if form.becomes not in OURS:
        raise ValueError(f"a format that becomes {form.becomes!r}, expected one of {', '.join(OURS)}")
    add(KIND, name, form, FORMATS)


CONTRACTS[KIND] = format_faults
