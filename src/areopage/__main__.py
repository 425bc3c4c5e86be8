"""`python -m areopage`: the same as the command `areopage`."""

from areopage.cli.process import command

if __name__ == "__main__":
    command()
