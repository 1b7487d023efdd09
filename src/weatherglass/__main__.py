"""`python -m weatherglass` is the same as `weatherglass`."""

if __name__ == "__main__":
    from weatherglass.cli import main  # here: worker processes import this module, and need no command line

    main()
