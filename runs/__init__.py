"""cancelboard's one app. Importing it imports nothing: a worker has no Django."""
