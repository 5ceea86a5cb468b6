"""Blobs by digest, names for them, and a check of all of it. Holds no opinion on what is stored."""

from ragassay.store.check import CheckReport, Finding
from ragassay.store.folder import Store
from ragassay.store.refs import Ref

__all__ = ["CheckReport", "Finding", "Ref", "Store"]
