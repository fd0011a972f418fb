"""The layer for programs of skillkit against skillkit itself."""
