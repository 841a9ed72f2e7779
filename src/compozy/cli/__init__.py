"""The `compozy` command: commands, output formats, exit codes.

Nothing is imported here: start-up time is part of the product, see `compozy.cli.command_table`.
"""
