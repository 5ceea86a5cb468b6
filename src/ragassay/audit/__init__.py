"""Evidence read again: every number and verdict made anew from its records, explained, exported. Asks no system."""
