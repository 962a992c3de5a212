"""Everything that runs inside pytest."""
