"""The embedded agent: a separate process that speaks ACP, uses no language model, and says so.

It searches a workspace for the words of a task, ranks and explains what it finds, and can write the findings to a
file. It knows nothing of `compozy`: it reads and writes through the client's methods like any other agent, and is
started as `python -m compozy_offline_agent`. Standard library only, so that it is up within a few dozen milliseconds.
"""

__version__ = "0.1.0"
