"""Skills as tools of agent frameworks."""
