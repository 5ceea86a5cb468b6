"""Judges against people's annotations: tables printed by one command."""
