"""How the findings of `compozy agent check` are shown: for people, editors, code scanning and pull requests."""
