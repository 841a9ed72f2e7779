"""One module per command group, loaded only when it is used."""
