"""Credentials and declared patterns are taken out before anything is hashed. Guesses no other secrets."""

from ragassay.redact.transform import CREDENTIAL_HEADERS, CREDENTIAL_KEYS, MAX_TEXT, Redaction

__all__ = ["CREDENTIAL_HEADERS", "CREDENTIAL_KEYS", "MAX_TEXT", "Redaction"]
