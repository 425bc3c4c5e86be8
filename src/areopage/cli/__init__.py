"""The command line: one file per group of commands. Heavy parts are imported inside the commands that use them."""
