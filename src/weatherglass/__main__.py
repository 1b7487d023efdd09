"""Run the command line: `python -m weatherglass` is the same as `weatherglass`."""

if __name__ == "__main__":
    # Worker processes import this module, and do not need the command line.
    from weatherglass.cli import main

    main()
