"""Write the tables of docs/calibration.md and the scale of the package: python -m docs.calibration.write FOLDER."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from docs.architecture import write

PAGE = Path(__file__).parents[1] / "calibration.md"
SCALE = Path(__file__).parents[2] / "src" / "weatherglass" / "calibration" / "scale.toml"
WHOLE = "X Y A B"


def main() -> None:
    """Replace the section between the markers of the page."""
    record = json.loads((Path(sys.argv[1]) / "calibration.json").read_text(encoding="utf-8"))
    write(PAGE, "study", "\n".join(lines(record)) + "\n")
    SCALE.write_text("\n".join(curves(record)) + "\n", encoding="utf-8")


def lines(record: dict[str, Any]) -> list[str]:
    """Return the paragraphs and tables of a calibration."""
    parts = list(dict.fromkeys((row["corpus"], row["algorithm"]) for row in record["responses"]))
    dimensions = {settings["dimensions"] for settings in record["algorithms"].values()}
    doses = len(record["doses"])
    trainings = doses * len(record["seeds"]) * len(parts)
    written = [
        f"{doses} doses × {len(record['seeds'])} seeds × {len(record['algorithms'])} algorithms: {trainings} trainings "
        f"of {', '.join(map(str, sorted(dimensions)))} dimensions, by the command in `docs/calibration/study.toml`.",
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
        written += [
            "",
            f"**{corpus}, {algorithm}.** Control test: {len(controls) - moved} of {len(controls)} responses are flat.",
            "",
            "| metric | at 0 | at ½ | at 1 | slope | 95 % CI | rank r | detects | outcome |",
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
