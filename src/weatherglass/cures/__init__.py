"""Did the cure work? A model before and after a transform: held-out words, what can be recovered, what it cost."""
