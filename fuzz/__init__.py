"""Any input at all: what the rules engine promises about it, and searches for a counterexample."""
