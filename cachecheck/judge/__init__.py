"""The one judgement of all faces: equal, doubtful or wrong."""
