"""Show the page in a notebook as an anywidget, whose questions the kernel answers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from weatherglass.errors import WeatherglassError
from weatherglass.explore.answers import Answer, answers
from weatherglass.explore.engine import Engine
from weatherglass.explore.of_run import specs_of, test_of
from weatherglass.explore.page import page
from weatherglass.explore.state import start_state
from weatherglass.explore.words import StaleError
from weatherglass.registry import shown
from weatherglass.storage.installed import require

if TYPE_CHECKING:
    from weatherglass.audit.run import Run


def explore_run(run: Run, models: Any = None) -> Any:
    """Return a widget for the models of a run; see `Run.explore`.

    Raises:
        MissingExtraError: if anywidget is not installed.
        WeatherglassError: if a model of the run cannot be loaded.
    """
    record = run.record
    return widget(Engine(models if models is not None else specs_of(record)), test_of(record))


def widget(engine: Engine, test: str = "weat6") -> Any:
    """Return the page as a widget that starts from a test.

    Raises:
        MissingExtraError: if anywidget is not installed.
    """
    require("explore in a notebook", ["anywidget"], "notebook")
    import anywidget
    import traitlets

    engine.prepare()
    asked = answers(engine)

    class Explorer(anywidget.AnyWidget):  # type: ignore[misc]
        """The page in a frame; each question of the page is a message with an id, a name and its content."""

        _esm = files(__package__).joinpath("templates", "widget.js").read_text(encoding="utf-8")
        page = traitlets.Unicode().tag(sync=True)

        def __init__(self, content: str) -> None:
            super().__init__(page=content)
            self.on_msg(_reply(asked))

    start = {**start_state(test), "models": list(range(len(engine.models))), "test": test}
    return Explorer(page(engine, start, "widget"))


def _reply(asked: Mapping[str, Answer]) -> Any:
    """Return the function that answers a message of the page."""

    def reply(shown_widget: Any, message: Any, _: Any) -> None:
        if isinstance(message, dict) and isinstance(message.get("weatherglass"), int):
            shown_widget.send({"weatherglass": message["weatherglass"], "answer": answer_of(asked, message)})

    return reply


def answer_of(asked: Mapping[str, Answer], message: Mapping[str, Any]) -> Any:
    """Return the answer to a message, or the reason why there is none."""
    name, content = message.get("name"), message.get("content")
    if not isinstance(name, str) or name not in asked or not isinstance(content, dict):
        return {"error": "the message is not a request that the page can send"}
    try:
        return asked[name](content)
    except StaleError:
        return None
    except WeatherglassError as error:
        return {"error": shown(str(error))}
