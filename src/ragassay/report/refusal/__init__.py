"""Refusal on a scorecard: who said what was declined, risk by coverage, calibration, paraphrases. Scores nothing."""
