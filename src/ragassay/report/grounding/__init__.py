"""What judges said, how far to believe it, and what is wrong with claims, as a scorecard shows it. Judges nothing."""
