"""A declared policy and evidence to pass, fail, review or inconclusive. Opens no socket and reads no clock."""
