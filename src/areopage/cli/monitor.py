"""`areopage monitor`: quality of answers in production."""

import typer

app = typer.Typer(
    help="Quality of answers in production: judge, store, alert, report.", no_args_is_help=True, rich_markup_mode=None
)
