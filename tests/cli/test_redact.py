"""A log that a user passes on holds no key."""

from __future__ import annotations

import pytest

from weatherglass.cli.redact import without_secrets

KEY = "sk-proj-3c1b0f7a9d2e4856"


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        ([], {"OPENAI_API_KEY": KEY}),
        ([], {"HF_TOKEN": KEY}),
        ([], {"MY_PASSWORD": f" {KEY}\n"}),
        (["run", "openai:m?key_env=MINE"], {"MINE": KEY}),
        (["run", f"openai:m?api_key={KEY}&retries=1"], {}),
        (["run", f"--token={KEY}"], {}),
    ],
)
def test_a_key_of_the_environment_or_of_an_option_is_hidden(
    arguments: list[str], environment: dict[str, str]
) -> None:
    text = f"weatherglass {' '.join(arguments)}\nTypeError: '{KEY}' is no number\nAuthorization: Bearer {KEY}"
    hidden = without_secrets(text, arguments, environment)
    assert KEY not in hidden
    assert "TypeError" in hidden


def test_keys_that_nobody_named_are_hidden_where_their_form_tells_them() -> None:
    text = "https://anna:hunter2@host/v1 Bearer abc.def"
    assert without_secrets(text, [], {}) == "https://***@host/v1 Bearer ***"


def test_switches_and_names_are_left() -> None:
    environment = {"TOKENIZERS_PARALLELISM": "false", "HOME": "/home/anna"}
    text = "if false: /home/anna/x.py key_env=MINE"
    assert without_secrets(text, ["key_env=MINE"], environment) == text
