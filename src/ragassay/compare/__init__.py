"""Two runs, question by question, and what changed between them. Opens no socket and reads no clock."""
