"""Write what calibrations showed: python -m docs.calibration.write FOLDER [--masked FOLDER].

The tables go into docs/calibration.md, the recommendations into docs/metrics.md, and the responses of WEAT's d into the
scale of the package. A calibration of a masked language model has a section of its own.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from docs.architecture import write

from weatherglass.calibration.calibrate import MetricResponse
from weatherglass.calibration.response import Response
from weatherglass.report.calibration import advice
from weatherglass.warnings import counted

PAGE = Path(__file__).parents[1] / "calibration.md"
METRICS = Path(__file__).parents[1] / "metrics.md"
SCALE = Path(__file__).parents[2] / "src" / "weatherglass" / "calibration" / "scale.toml"
WHOLE = "X Y A B"


def main() -> None:
    """Replace the sections between the markers of the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="the calibration of docs/calibration/study.toml")
    parser.add_argument("--masked", type=Path, help="the calibration of the masked language model")
    chosen = parser.parse_args()
    if chosen.folder:
        record = read(chosen.folder)
        write(PAGE, "study", "\n".join(lines(record, "the command in `docs/calibration/study.toml`")) + "\n")
        write(METRICS, "calibration", "\n".join(uses(record)) + "\n")
        SCALE.write_text("\n".join(curves(record)) + "\n", encoding="utf-8")
    if chosen.masked:
        record = read(chosen.masked)
        write(PAGE, "masked", "\n".join(lines(record, "the command above")) + "\n")


def read(folder: Path) -> dict[str, Any]:
    """Return the record of a calibration."""
    record: dict[str, Any] = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))
    return record


def uses(record: dict[str, Any]) -> list[str]:
    """Return a table of what each metric is recommended for, for each corpus and algorithm."""
    rows = [MetricResponse(**{**row, "response": Response(**row["response"])}) for row in record["responses"]]
    written = []
    for corpus, algorithm in dict.fromkeys((row.corpus, row.algorithm) for row in rows):
        some = [row for row in rows if (row.corpus, row.algorithm) == (corpus, algorithm)]
        written += ["", f"| {corpus}, {algorithm} | metrics |", "|---|---|"]
        written += [f"| {use} | {metrics} |" for use, metrics in advice(some)]
    return written[1:]


def lines(record: dict[str, Any], command: str) -> list[str]:
    """Return the paragraphs and tables of a calibration, which `command` made."""
    parts = list(dict.fromkeys((row["corpus"], row["algorithm"]) for row in record["responses"]))
    dimensions = {settings["dimensions"] for settings in record["algorithms"].values()}
    doses = len(record["doses"])
    trainings = doses * len(record["seeds"]) * len(parts)
    level = f"{100 * (1 - record['alpha']):g} %"
    written = [
        f"{doses} doses × {len(record['seeds'])} seeds × {counted(len(record['algorithms']), 'algorithm')}: "
        f"{trainings} trainings of {', '.join(map(str, sorted(dimensions)))} dimensions, by {command}.",
    ]
    for name, facts in record["corpora"].items():
        share = round(100 * facts["agreeing"] / facts["sentences"])
        written += [
            "",
            f"The corpus {name} has {facts['sentences']:,} sentences with a group word and words of one attribute; "
            f"{share} % of them agreed with the stereotype before anything was planted.".replace(",", " ", 1),
        ]
    for corpus, algorithm in parts:
        rows = [
            row for row in record["responses"] if (row["corpus"], row["algorithm"]) == (corpus, algorithm)
        ]
        planted = [row for row in rows if row["kind"] == "planted"]
        controls = [row for row in rows if row["kind"] == "control"]
        moved = sum(row["outcome"] == "moves" for row in controls)
        centred = [row["response"]["centred"] for row in planted if row["response"]["centred"] is not None]
        written += [
            "",
            f"**{corpus}, {algorithm}.** Control test: {len(controls) - moved} of {len(controls)} responses are flat. "
            f"The {level} interval at ½ contains the value without bias for {sum(centred)} of the {len(centred)} "
            "responses that compare the groups.",
            "",
            "| metric | at 0 | at ½ | at 1 | slope | interval | rank r | detects | outcome |",
            "|---|---|---|---|---|---|---|---|---|",
            *(f"| {' | '.join(cells(row))} |" for row in planted),
        ]
    return written


def curves(record: dict[str, Any]) -> list[str]:
    """Return the responses of WEAT's d as TOML."""
    written = ["# Mean d of cosine/mean at each dose; written by docs/calibration/write.py."]
    for row in record["responses"]:
        if row["kind"] == "planted" and row["metric"] == "cosine/mean":
            fitted = row["response"]
            written += ["", "[[curves]]", f'corpus = "{row["corpus"]}"', f'algorithm = "{row["algorithm"]}"']
            written += [
                f"{name} = {[round(value, 4) for value in fitted[name]]}" for name in ("doses", "means")
            ]
            written += [f"sd = {round(fitted['sd'], 4)}"]
    return written


def cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of one response."""
    fitted = row["response"]
    at = dict(zip(fitted["doses"], fitted["means"], strict=True))
    name = row["metric"] if row["sets"] == WHOLE else f"{row['metric']} ({row['sets'].replace(' ', ', ')})"
    smallest = "–" if fitted["smallest"] is None else f"{fitted['smallest']:.2f}"
    return [
        name,
        *(number(at[dose]) for dose in (0.0, 0.5, 1.0)),
        number(fitted["slope"]),
        f"{number(fitted['slope_low'])} to {number(fitted['slope_high'])}",
        number(fitted["spearman"]),
        smallest,
        row["outcome"],
    ]


def number(value: float) -> str:
    """Return a number with three decimals below 0.1 and two above, and a real minus sign."""
    digits = 2 if abs(value) >= 0.1 else 3
    return f"{value:.{digits}f}".replace("-", "−")


if __name__ == "__main__":
    main()
