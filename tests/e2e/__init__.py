"""The same end-to-end tests against real agents that nobody here wrote (`make e2e`)."""
