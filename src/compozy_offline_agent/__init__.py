"""The embedded agent: a separate process that speaks ACP, uses no language model, and says so."""
