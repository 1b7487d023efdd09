"""The command `weatherglass`, which `python -m weatherglass` runs, too."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C also ends it quietly while it is still being imported."""
    try:
        from weatherglass.cli import (
            main as run,  # here: worker processes import this module without needing it
        )
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
