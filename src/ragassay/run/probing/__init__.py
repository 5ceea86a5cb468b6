"""Asking a system the probes of a suite: only at named addresses, bounded, and without keeping a secret."""
