"""Define the command `weatherglass`, which can also be run as `python -m weatherglass`."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it quietly, even during the imports."""
    try:
        # Worker processes import this module, and do not need the command line.
        from weatherglass.cli import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
