"""The fleet through the daemon: catalog, workspaces, discovery."""
