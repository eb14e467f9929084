"""Random cases under injected faults, held against the same cases undisturbed; README.md explains."""
