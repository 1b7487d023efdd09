"""Notebooks as pages: executed by the build, cells and what they show, in order; a quick build shows stored outputs.

`python docs/hooks/notebooks.py` executes them and stores their outputs, for readers of the files themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def executed(path: Path) -> Any:
    """The notebook with the outputs of today; a cell that raises ends the build."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times, which would make two builds differ
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _is_progress(output)]
    return notebook


def _is_progress(output: Any) -> bool:
    """A bar that has reached its end, or what a library tells on stderr."""
    return "<progress" in output.get("data", {}).get("text/html", "") or output.get("name") == "stderr"


def notebook_page(path: Path, quick: bool = False) -> str:
    """Return a notebook as Markdown, executed, or with `quick` as it is stored."""
    notebook = json.loads(path.read_text(encoding="utf-8")) if quick else executed(path)
    return "\n\n".join(part for cell in notebook["cells"] for part in _cell(cell))


def _cell(cell: Any) -> Iterator[str]:
    source = _joined(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        if shown := _output(output):
            yield f'<div class="output" markdown="block">\n\n{shown}\n\n</div>'


def _output(output: Any) -> str:
    if output["output_type"] == "stream":
        return f"```text\n{_joined(output['text']).rstrip()}\n```"
    data = {kind: _joined(content) for kind, content in output.get("data", {}).items()}
    if "image/png" in data:
        return f'<img alt="the figure that this cell draws" src="data:image/png;base64,{data["image/png"].strip()}">'
    if "text/html" in data:
        return f'<div class="html">{data["text/html"]}</div>'
    return f"```text\n{data['text/plain']}\n```" if "text/plain" in data else ""


def _joined(text: Any) -> Any:
    """Return a text; a stored notebook has a list of its lines."""
    return "".join(text) if isinstance(text, list) else text


if __name__ == "__main__":
    import nbformat

    for notebook in sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb")):
        nbformat.write(executed(notebook), notebook)
