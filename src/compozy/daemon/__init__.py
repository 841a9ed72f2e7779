"""The daemon: HTTP on loopback and a Unix socket from one application, guards, SSE, lifecycle."""
