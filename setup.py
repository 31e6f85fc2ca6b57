"""What a Beam worker stages and what installs the product; everything is declared in pyproject."""

from setuptools import setup

setup()
