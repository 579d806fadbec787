"""The folders beside ``planweave/`` are its subpackages; the rest is said in pyproject.toml.

``planweave.graphs`` is built from ``graphs/`` and so on. The links ``planweave/graphs → ../graphs``
let type checkers, editors and a checkout that is not installed see the same; nothing that is built
or installed depends on them (docs/packaging.md).
"""

from setuptools import find_packages, setup

FOLDERS = (
    *("apps", "benchmarks", "graphs", "learning", "memory"),
    *("models", "nodes", "prompts", "simulators", "tools"),
)
found = find_packages(include=[*FOLDERS, *(f"{folder}.*" for folder in FOLDERS)])

setup(
    packages=["planweave", *(f"planweave.{name}" for name in found)],
    package_dir={f"planweave.{folder}": folder for folder in FOLDERS},
)
