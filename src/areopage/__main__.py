"""`python -m areopage`: the same as the command `areopage`."""

from areopage.cli.main import main

if __name__ == "__main__":
    main()
