"""An example of each command, for its help."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "": ("weatherglass run", "weatherglass run vectors:glove.txt -t 'weat*' -o first"),
    "run": (
        "weatherglass run",
        "weatherglass run old=vectors:old.txt new=vectors:new.txt -t 'weat*' -o both",
        "weatherglass run hf:bert-base-uncased -t weat6 --fail-if 'p_adjusted < 0.05'",
    ),
    "report": ("weatherglass report weatherglass-run -f latex -o table.tex",),
    "explain": ("weatherglass explain weatherglass-run weat6",),
    "compare": ("weatherglass compare before after",),
    "multiverse": ("weatherglass multiverse vectors:glove.txt -t 'gender and career'",),
    "mitigate": (
        "weatherglass mitigate vectors:glove.txt --with hard-debias -o better.txt",
        "weatherglass mitigate vectors:glove.txt --with leace --judge",
    ),
    "verdict": ("weatherglass verdict weatherglass-run",),
    "words": ("weatherglass words vectors:glove.txt -w jobs.tsv --facts share_of_women",),
    "metrics": ("weatherglass metrics", "weatherglass run -m rnsb -m 'rnd(normalise=yes)' -t weat6"),
    "models": ("weatherglass models",),
    "try": ("weatherglass try wordllama doctor nurse 'a kind word'",),
    "encode": ("weatherglass encode hf:bert-base-uncased -t 'weat*' -o bert.npz",),
    "docs": ("weatherglass docs", "weatherglass docs warnings"),
    "cache info": ("weatherglass cache info",),
    "cache clear": ("weatherglass cache clear",),
    "tests list": ("weatherglass tests list 'sent-*'", "weatherglass tests list --language fr"),
    "tests sets": ("weatherglass tests sets",),
    "tests show": ("weatherglass tests show weat6",),
    "tests export": ("weatherglass tests export my-tests -t 'weat*'",),
    "tests texts": ("weatherglass tests texts -t weat6",),
    "tests sentences": ("weatherglass tests sentences weat6 -o sent-weat6.toml",),
    "tests init": ("weatherglass tests init my-test.toml",),
    "tests import": ("weatherglass tests import xweat -o my-tests",),
    "reliability init": ("weatherglass reliability init study.toml --corpus corpus.txt",),
    "reliability run": ("weatherglass reliability run study.toml -o my-study",),
    "reliability assess": ("weatherglass reliability assess --embeddings 'vectors/*.txt' -o my-study",),
    "reliability train": ("weatherglass reliability train study.toml --jobs 4",),
    "reliability score": ("weatherglass reliability score study.toml",),
    "reliability explain": ("weatherglass reliability explain study.toml --senses senses.tsv",),
    "reliability word": ("weatherglass reliability word my-study nurse",),
    "reliability audit": ("weatherglass reliability audit my-study -t 'weat*'",),
    "reproduce may2019": ("weatherglass reproduce may2019 --model cbow=vectors:glove.txt",),
    "reproduce azarpanah2021": ("weatherglass reproduce azarpanah2021 --model glove=vectors:glove.txt",),
    "reproduce du2021": ("weatherglass reproduce du2021 wiki=wiki.txt --seeds 8",),
}
"""By the words of the command after `weatherglass`."""
