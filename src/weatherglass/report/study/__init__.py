"""Show a reliability study: its figures, its tables as matrices, its page and its terminal output."""
