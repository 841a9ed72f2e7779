"""What people authored: discovery order, shadowing, sources, and the snapshot of one workspace."""
