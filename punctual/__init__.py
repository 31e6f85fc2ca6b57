"""The installed command: the one-process host and the command line."""
