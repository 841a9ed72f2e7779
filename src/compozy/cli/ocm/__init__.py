"""What the commands of `compozy ocm` share: reading, printing, exit codes."""
