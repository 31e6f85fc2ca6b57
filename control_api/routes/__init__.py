"""The HTTP shells of the operations: paths, parameters, models and statuses, nothing more."""
