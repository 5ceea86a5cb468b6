"""Whatever rules on claims, citations and answers: evaluators, and the job that carries them. Scores nothing."""
