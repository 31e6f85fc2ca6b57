"""The control API: management, history and privileged surfaces over the store's ports."""
