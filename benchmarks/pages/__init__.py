"""What the documents hold of code, evidence and runs: tables, listings, outputs, pictures."""
