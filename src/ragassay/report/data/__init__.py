"""Where the data of a scorecard come from, and what was recorded of its run; shown, never filled in."""
