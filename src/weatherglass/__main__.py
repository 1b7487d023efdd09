"""`python -m weatherglass` is the same as `weatherglass`."""

from weatherglass.cli import main

if __name__ == "__main__":
    main()
