"""The examples in docstrings and in the README."""

import doctest
import importlib
import pathlib
import pkgutil
import runpy
import sys

import hyperslab
import numpy as np
import pytest

MODULES = ["hyperslab"] + [f"hyperslab.{module.name}" for module in pkgutil.iter_modules(hyperslab.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    names = {"np": np, "hyperslab": hyperslab, "Space": hyperslab.Space}
    result = doctest.testmod(importlib.import_module(name), extraglobs=names)
    assert result.failed == 0


def test_docstrings_of_the_rust_part():
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    members = [
        hyperslab.Space,
        *(getattr(hyperslab.Space, name) for name in dir(hyperslab.Space) if not name.startswith("__")),
    ]
    examples = 0
    for member in members:
        text = member.__doc__ or ""
        parsed = doctest.DocTestParser().get_doctest(text, {"Space": hyperslab.Space}, repr(member), None, 0)
        examples += len(parsed.examples)
        assert runner.run(parsed).failed == 0
    assert examples > 10 and finder


def examples(readme):
    return [part.split("```")[0] for part in readme.read_text().split("```python\n")[1:]]


HERE = pathlib.Path(__file__).resolve().parent.parent


def test_readme(tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    with h5py.File("data.h5", "w") as file:
        file["run/temperature"] = np.zeros((1440, 90), "f4")
        file["run/temperature"].attrs["unit"] = "K"
    for example in examples(HERE / "README.md"):
        exec(compile(example, "README.md", "exec"), {})


def test_readme_of_the_project(tmp_path, monkeypatch):
    """The examples as they stand, with the file that `cargo xtask sample` makes."""
    h5py = pytest.importorskip("h5py")
    project = HERE.parent.parent
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["sample.py", "sample.h5"])
    runpy.run_path(str(project / "xtask" / "sample.py"), run_name="__main__")
    all_examples = examples(project / "README.md")
    assert len(all_examples) == 4
    for example in all_examples:
        exec(compile(example, "README.md", "exec"), {})
    with h5py.File("run.h5") as file:
        assert file.attrs["title"] == "a first run" and file["detector/frames"].compression == "gzip"
