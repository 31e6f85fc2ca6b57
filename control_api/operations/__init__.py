"""What the API does, free of any protocol: a call and a body in, a reply out."""
