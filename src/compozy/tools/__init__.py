"""Tools: ids, descriptors, registry, search, policy, results, the hosted server. Knows no session, store or route."""
