"""Runs h5py's own tests with hyperslab in the place of h5py.

`python run.py [module …]` prints what passed of each module, and writes the names of failures with their reasons to standard output
if `--failures` is given. The tests are those of the h5py that is installed.
"""

import argparse
import collections
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

MODULES = """test_dataset test_group test_attrs test_attrs_data test_file test_slicing test_dataset_getitem test_dimension_scales
test_vds""".split()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES)
    parser.add_argument("--failures", action="store_true", help="say what failed, and why")
    parser.add_argument("--least", type=float, default=0.0, help="fail if fewer percent than these pass")
    arguments = parser.parse_args()
    here = pathlib.Path(__file__).parent
    found = importlib.util.find_spec("h5py")
    assert found is not None and found.origin is not None, "h5py is not installed"
    with tempfile.TemporaryDirectory() as place:
        package = pathlib.Path(place, "h5py")
        shutil.copytree(here / "stand_in", package, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(pathlib.Path(found.origin).parent / "tests", package / "tests")
        outcomes = [run(place, package / "tests", module) for module in arguments.modules]
    total = sum((outcome.counts for outcome in outcomes), collections.Counter())
    for outcome in outcomes:
        report(outcome.module, outcome.counts)
    share = report("all", total)
    if arguments.failures:
        for outcome in outcomes:
            for name, why in outcome.failures:
                print(f"{outcome.module}: {name}: {why}")
    return 0 if share >= arguments.least else 1


class Outcome:
    """What became of the tests of a module."""

    def __init__(self, module: str, report: pathlib.Path) -> None:
        self.module = module
        self.counts: collections.Counter[str] = collections.Counter()
        self.failures: list[tuple[str, str]] = []
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            wrong = case.find("failure") if case.find("failure") is not None else case.find("error")
            if case.find("skipped") is not None:
                self.counts["skipped"] += 1
            elif wrong is None:
                self.counts["passed"] += 1
            else:
                self.counts["failed"] += 1
                lines = (wrong.get("message") or "").splitlines() or [""]
                name = f"{case.get('classname', '').rsplit('.', 1)[-1]}.{case.get('name')}"
                self.failures.append((name, " ".join(lines)[:160]))


def run(place: str, tests: pathlib.Path, module: str) -> Outcome:
    """Runs the tests of one module or folder in a process of their own."""
    target = tests / module if (tests / module).is_dir() else tests / f"{module}.py"
    report = pathlib.Path(place, f"{module}.xml")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", "--tb=short"]
    paths = [place, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    subprocess.run([*command, str(target)], env=environment, cwd=place, stdout=subprocess.DEVNULL, check=False, timeout=600)
    return Outcome(module, report)


def report(name: str, counts: collections.Counter[str]) -> float:
    """Prints a line, and returns how many percent passed of those that were not skipped."""
    total = counts["passed"] + counts["failed"]
    share = 100 * counts["passed"] / max(total, 1)
    print(f"{name:24} {counts['passed']:4} of {total:4} passed ({share:.0f} %), {counts['skipped']} skipped")
    return share


if __name__ == "__main__":
    sys.exit(main())
