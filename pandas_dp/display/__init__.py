"""What a notebook, a terminal or the tab key shows that is no answer.  Shows public or released things alone."""
