"""What differs between two runs: artefacts, steps, and where facts were lost anew. Measures nothing."""
