import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.remote import destination
from rogue.remote.destination import HOPS, HOST, NODE, PATH, PYTHON, USER, Word

ALL = [each for each in vars(destination).values() if isinstance(each, Word)]
NEVER = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\"'`$%&;|<>{}!#*?]|^-|^$")
"""What ends a value, begins an option, is filled in, or is run."""


@pytest.mark.parametrize("word", ALL, ids=lambda word: str(word.meaning))
@given(text=st.text(max_size=30) | st.text("aZ0_./~@:,[]-\\ \"'`$%{}\n\r\0;|&*?", max_size=12))
def test_no_word_means_anything_but_itself(word: Word, text: str) -> None:
    assert not (word.fits(text) and NEVER.search(text)), text


@pytest.mark.parametrize(
    ("word", "texts"),
    [
        (NODE, ["h0", "fabric", "tor-1.rack"]),
        (HOST, ["lab-1", "10.0.0.1", "node0.example.org", "fe80::1", "::1", "a"]),
        (USER, ["root", "alice", "a.b@corp", "DOMAIN\\alice", "_x-1"]),
        (HOPS, ["none", "gate", "eve@outer:2201,inner", "ssh://gate:22", "[fe80::1]:22"]),
        (PATH, ["/a b/known", "~/.ssh/id", "../x", "/home/zoë/ключ", "/tmp/a(1),b=c@d"]),
        (PYTHON, ["auto_silent", "/usr/bin/python3.11"]),
    ],
)  # fmt: skip
def test_ordinary_words_fit(word: Word, texts: list[str]) -> None:
    assert [text for text in texts if not word.fits(text)] == []


@pytest.mark.parametrize("text", ["gate.example.org:30755", "10.0.0.1:22", "gate:", "lab:b:c", "[::1]:22"])
def test_a_host_has_no_port(text: str) -> None:
    assert not HOST.fits(text)
