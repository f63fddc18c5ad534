"""The only code that knows every package: the command line, the HTTP server and how they are wired."""
