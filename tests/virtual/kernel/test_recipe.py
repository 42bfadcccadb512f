"""What the kernel is made of."""

import re

from rogue.virtual.kernel import recipe


def test_name_changes_with_release_and_source() -> None:
    names = {
        recipe.digest(*each) for each in (("bookworm", "6.1.1"), ("trixie", "6.1.1"), ("bookworm", "6.1.2"))
    }
    assert len(names) == 3


def test_words_make_no_other_kernel() -> None:
    code = (
        b'"""A module."""\nTHREE = 3  # pieces\n"""How many."""\n\ndef f():\n    """Docs."""\n    return 3\n'
    )
    assert recipe.without_words(code) == b"THREE = 3\n\ndef f():\n    return 3"
    assert recipe.without_words(code.replace(b"= 3", b"= 4")) != recipe.without_words(code)


def test_every_option_is_wanted_once() -> None:
    options = recipe.wanted_options()
    assert len(options) == len(set(options)) > 50
    assert all(re.fullmatch(r"CONFIG_[A-Z0-9_]+=(y|[0-9]+|\".*\")", option) for option in options)
    assert "CONFIG_RDMA_RXE=y" in options


def test_init_leaves_the_root_folder_alone() -> None:
    """Cells share it: what they write goes to tmpfs or to their own folder."""
    mounted = re.findall(r"mount -t tmpfs \S+ (\S+)", recipe.INIT.read_text())
    assert mounted == ["/tmp", "/run"]
