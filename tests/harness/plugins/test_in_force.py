"""In one process a name means one version at a time; another one waits for its turn."""

import threading

import pytest
from helpers.plugin_files import FIXED_TWICE, plugin

from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.harness.errors import ConfigError
from rogue.harness.plugins import loading as module
from rogue.harness.plugins.loading import in_force, loaded_plugins
from rogue.harness.plugins.source import PluginSource

OLD, NEW = plugin(FIXED_TWICE), plugin("# newer\n" + FIXED_TWICE)
HEADER = plugin(FIXED_TWICE, "my.h")
OTHER = plugin(FIXED_TWICE.replace("twice", "thrice"))


def texts() -> list[str]:
    return [each.source.text for each in loaded_plugins()]


def test_another_version_takes_the_place_of_the_first() -> None:
    """As when a plug-in was edited between two runs on the same Dask workers."""
    with in_force([OLD]):
        assert texts() == [OLD.text]
    with in_force([NEW]):
        assert texts() == [NEW.text]
        assert "twice" in CONGESTION_CONTROLS
    with in_force([OLD]):
        assert texts() == [OLD.text]


def test_what_is_loaded_stays_for_who_needs_no_more() -> None:
    with in_force([OLD, OTHER]), in_force([OLD]), in_force([]):
        assert texts() == [OLD.text, OTHER.text]


class Seen(threading.Condition):
    """Tells that somebody waits."""

    def __init__(self) -> None:
        super().__init__()
        self.has_waiter = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.has_waiter.set()
        return super().wait(timeout)


def test_another_version_waits_until_nobody_uses_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or a cell that runs would find the other one under the same name."""
    changed, seen = Seen(), []
    monkeypatch.setattr(module._users, "changed", changed)

    def use() -> None:
        with in_force([NEW]):
            seen.append(texts())

    thread = threading.Thread(target=use, daemon=True)
    with in_force([OLD]):
        thread.start()
        assert changed.has_waiter.wait(10)
        assert (seen, texts()) == ([], [OLD.text])
    thread.join(10)
    assert seen == [[NEW.text]]


def test_whoever_comes_later_waits_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or cells of the old version that follow each other would hold the new one out for ever."""
    changed, entered = Seen(), []
    monkeypatch.setattr(module._users, "changed", changed)

    def use(name: str, source: PluginSource) -> None:
        with in_force([source]):
            entered.append(name)

    threads = []
    with in_force([OLD]):
        for name, source in (("new", NEW), ("old", OLD), ("new again", NEW)):
            changed.has_waiter.clear()
            threads.append(threading.Thread(target=use, args=(name, source), daemon=True))
            threads[-1].start()
            assert changed.has_waiter.wait(10)
        assert entered == []
    for thread in threads:
        thread.join(10)
    assert entered == ["new", "old", "new again"]


def test_who_waits_in_vain_is_told_for_what() -> None:
    words = rf"my\.py: got my\.py \({OLD.sha256[:12]}\) in use by 2 cells of this worker for 0 s"
    with in_force([OLD]), in_force([OLD]):
        with pytest.raises(ConfigError, match=words), in_force([NEW], limit_s=0):
            pytest.fail("entered beside another version")
        with in_force([OLD], limit_s=0):
            assert texts() == [OLD.text], "who gave up stands in nobody's way"


def test_the_same_text_in_another_language_is_another_version() -> None:
    with in_force([OLD]), pytest.raises(ConfigError, match=r"my\.h"), in_force([HEADER], limit_s=0):
        pytest.fail("a plug-in in Python taken for one in C++")


def test_who_fails_lets_the_next_one_in() -> None:
    with pytest.raises(KeyError), in_force([OLD]):
        raise KeyError
    with in_force([NEW]):
        assert texts() == [NEW.text]
