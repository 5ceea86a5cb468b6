"""TREC runs and judgements as arrays of bytes, from files or columns; no Python object for a line on the way."""
