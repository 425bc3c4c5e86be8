"""Command line: one module per group of commands; heavy imports happen inside commands."""
