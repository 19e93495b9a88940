"""One-click training: a labelled dataset in, a model that knows its task out. README.md says how it is made."""
