"""The page of a reliability study: its figures, its tables as matrices, and the HTML."""
