"""The `compozy` command: commands, output formats, exit codes."""
