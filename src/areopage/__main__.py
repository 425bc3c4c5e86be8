"""`python -m areopage`: the same as the command `areopage`."""

from areopage.cli import command

if __name__ == "__main__":
    command()
