"""A kind of model that was registered in Python works with several processes, which do not know it."""

from __future__ import annotations

from typing import ClassVar, Self

import pytest
from tests.models import HashedEncoder

import weatherglass
from weatherglass.encoders import ENCODERS, Spec


class Mine(HashedEncoder):
    costly: ClassVar[bool] = True

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        return cls(name=str(spec))

    def identity(self) -> str:
        return "mine"

    def notes(self) -> list[str]:
        return []


def test_a_registered_kind_is_encoded_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENCODERS._registered, "mine", Mine)
    alone = weatherglass.run("mine:x", "weat6").results[0]
    several = weatherglass.run("mine:x", "weat6", jobs=2)
    assert not several.failures
    assert several.results[0].effect_size == alone.effect_size
