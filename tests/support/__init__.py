"""What the tests stand on: databases of their own, servers of their own. No test, no story, no cast."""
