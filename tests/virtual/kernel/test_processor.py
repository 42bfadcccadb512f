"""Kernels and their processors."""

import os

import pytest

from rogue.virtual.kernel import boot
from rogue.virtual.kernel.boot import own_processor


def test_each_has_one_until_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boot, "_NAME", f"\0test-{os.getpid()}-")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {7, 3})
    with own_processor() as first, own_processor() as second, own_processor() as third:
        assert (first, second, third) == (3, 7, None)
    with own_processor() as again:
        assert again == 3
