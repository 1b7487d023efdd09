"""The cache of encodings on disk: a text that a model has encoded once is not encoded again."""
