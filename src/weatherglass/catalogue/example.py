"""The test file that `weatherglass tests init` writes: it works as it is, and says what may be changed."""

from __future__ import annotations

EXAMPLE = """# A test of your own. It asks: are the words of X, more than those of Y, associated with A rather than B?
# Try it as it is:  weatherglass run -t {name}.toml

name = "{name}"                 # what results call it
topic = "weather and mood"      # tests of one topic share a verdict
language = "en"                 # of the words, as a code
source = "made up, to show the format"   # where the words come from, for your readers

# Target sets: what may be treated differently. Take at least 8 words each, better 20: with fewer, a test finds only
# very large effects. Choose words of both sets that are equally common, or you measure how common they are.
[X]
category = "Sunshine"           # the name of the set in results
words = ["sun", "sunshine", "summer", "warmth", "light", "daylight", "dawn", "spring"]

[Y]
category = "Storms"
words = ["storm", "thunder", "winter", "frost", "darkness", "night", "fog", "autumn"]

# Attribute sets: what they are associated with. A set of the catalogue can be named instead of words:
# A = "pleasant"                ('weatherglass tests sets' lists them)
[A]
category = "Pleasant"
words = ["joy", "love", "peace", "wonderful", "pleasure", "friend", "laughter", "happy"]

[B]
category = "Unpleasant"
words = ["agony", "terrible", "horrible", "evil", "failure", "war", "awful", "hatred"]

# Sentences: remove the # of the lines below, and every word is put into each template.
# [[template]]
# text = "This is about {{word}}."
# [[template]]
# text = "We talked about {{word}} today."

# Metrics that take other numbers of sets: write [[targets]] and [[attributes]] in place of [X], [Y], [A] and [B].
"""
