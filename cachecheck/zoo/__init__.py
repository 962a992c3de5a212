"""Every architecture of somebody else's library through every law: one matrix."""
