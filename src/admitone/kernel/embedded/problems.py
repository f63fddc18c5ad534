"""What can hinder the embedded server."""


class EmbeddedProblem(Exception):
    """The server cannot run; the text says why, for the person who started it."""
