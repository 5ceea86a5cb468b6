"""Credentials, what detectors find and declared patterns are taken out before anything is hashed. Stores nothing."""

from ragassay.redact.transform import CREDENTIAL_HEADERS, CREDENTIAL_KEYS, MAX_TEXT, Redaction

__all__ = ["CREDENTIAL_HEADERS", "CREDENTIAL_KEYS", "MAX_TEXT", "Redaction"]
