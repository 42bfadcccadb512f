"""In one process a name means one version at a time; another one waits for its turn."""

import threading

import pytest
from helpers.plugin_files import FIXED_TWICE, plugin

from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.harness.plugins import in_force as module
from rogue.harness.plugins.in_force import in_force
from rogue.harness.plugins.loading import loaded_plugins

OLD, NEW = plugin(FIXED_TWICE), plugin("# newer\n" + FIXED_TWICE)
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


def test_who_fails_lets_the_next_one_in() -> None:
    with pytest.raises(KeyError), in_force([OLD]):
        raise KeyError
    with in_force([NEW]):
        assert texts() == [NEW.text]
