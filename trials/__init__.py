"""Trials of minutes: kills, full disks, read-only stores, failed fsyncs. `make trials`; not part of the tests."""
