"""Tries a declared grid of settings on questions for development, and says how many were tried. Judges no release."""
