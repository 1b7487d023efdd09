"""Notebooks as pages: executed by the build, cells and what they show, in order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient


def executed(path: Path) -> Any:
    """The notebook with the outputs of today; a cell that raises ends the build."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    return notebook


def notebook_page(path: Path) -> str:
    """Markdown of an executed notebook."""
    return "\n\n".join(part for cell in executed(path).cells for part in _cell(cell))


def _cell(cell: Any) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield cell.source
        return
    yield f"```python\n{cell.source}\n```"
    for output in cell.outputs:
        if shown := _output(output):
            yield f'<div class="output" markdown="block">\n\n{shown}\n\n</div>'


def _output(output: Any) -> str:
    if output.output_type == "stream":
        return f"```text\n{output.text.rstrip()}\n```" if output.name == "stdout" else ""
    data = output.get("data", {})
    if "image/png" in data:
        return f'<img alt="the figure that this cell draws" src="data:image/png;base64,{data["image/png"].strip()}">'
    if "text/html" in data:
        return f'<div class="html">{data["text/html"]}</div>'
    return f"```text\n{data['text/plain']}\n```" if "text/plain" in data else ""
