"""Puts the C runtime and the target descriptions, which stand beside the package, into a wheel."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

BESIDE = {"runtime_c": "_runtime_c", "targets": "_targets"}


class BuildWithData(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return  # the checkout itself is used
        for folder, name in BESIDE.items():
            into = Path(self.build_lib) / "ccodegen" / name
            shutil.copytree(folder, into, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithData})
