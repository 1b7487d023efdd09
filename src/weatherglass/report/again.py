"""How to make one row of a run again: the command line and the Python call, with the settings that are no defaults."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from weatherglass.audit.record import plain
from weatherglass.audit.settings import default_settings


def model_spec(record: Mapping[str, Any], model: str) -> str:
    """What a run was told for a model: NAME=SPEC where its name is one, else the name, which is its spec."""
    arguments = record.get("arguments", {}).get("models", [])
    told = record.get("command") or ([arguments] if isinstance(arguments, str) else arguments)
    return next((word for word in told if isinstance(word, str) and word.startswith(f"{model}=")), model)


def changed_settings(record: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run that are not the defaults."""
    defaults = {name: plain(value) for name, value in default_settings().items()}
    settings = record.get("settings", {})
    return {
        name: settings[name] for name in defaults if name in settings and settings[name] != defaults[name]
    }


def command_options(record: Mapping[str, Any]) -> str:
    """These settings as options of `weatherglass run`.

    >>> command_options({"settings": {"alpha": 0.01, "permute": "words"}})
    '--alpha 0.01'
    """
    words: list[str] = []
    for name, value in changed_settings(record).items():
        if name == "budget":
            value = f"{value['seconds']:g}s,{value['bytes'] / 1e9:g}GB"
        if value is not None and not isinstance(value, Mapping):
            words += [f"--{name}", f"{value:g}" if isinstance(value, float) else str(value)]
    return shlex.join(words)


def python_arguments(record: Mapping[str, Any]) -> str:
    """These settings as arguments of `weatherglass.run`.

    >>> python_arguments({"settings": {"alpha": 0.01, "alternative": "greater"}})
    'alternative="greater", alpha=0.01'
    """
    changed = {name: value for name, value in changed_settings(record).items() if name != "budget"}
    return ", ".join(f"{name}={_literal(value)}" for name, value in changed.items())


def _literal(value: Any) -> str:
    return (
        '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' if isinstance(value, str) else repr(value)
    )
