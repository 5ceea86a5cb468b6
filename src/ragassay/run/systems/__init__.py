"""Adapters that ask a system under test, and the reference pipeline. Each module says what it asks and how."""
