"""Define the command `weatherglass`, which `python -m weatherglass` runs, too."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C also ends it quietly while it is still being imported."""
    try:
        # Worker processes import this module, and do not need the command line.
        from weatherglass.cli import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
