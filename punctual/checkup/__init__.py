"""What `punctual doctor` looks at, one check after the other."""
