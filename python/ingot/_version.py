from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("ingot")
except PackageNotFoundError:  # run from the source tree without being installed
    __version__ = "0.0.0"
