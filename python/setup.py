"""The optional C extension of ingot.record; everything else is in pyproject.toml. Without a compiler the package
installs all the same, and ingot.record works in Python alone."""

from setuptools import Extension, setup

setup(ext_modules=[Extension("ingot.record._fast", ["ingot/record/_fast.c"], extra_compile_args=["-O2"],
                             optional=True)])
