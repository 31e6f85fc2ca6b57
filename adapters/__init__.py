"""One file is one port on one technology."""
