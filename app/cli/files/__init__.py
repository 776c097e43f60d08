"""Files: what commands read from files and write to them, whole or not at all."""
