"""Writes every file of a corpus anew by `hyperslab repack`, and has libhdf5 say whether it still is the same file.

`cargo xtask repack` runs it. What libhdf5 says comes from the `oracle.py` beside the corpus: one line of JSON for each link, values as
checksums. Everything must be equal but what is in `MAY_DIFFER`; `hyperslab check` must find no problem, and `h5dump`, if there is one,
must print the new file if it prints the old one.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# A file that is written anew has another size, other structures and other indexes of its chunks.
MAY_DIFFER = {"size", "superblock", "index"}
# Families and other sets of files become one. That is counted by itself.
ONE_FILE = re.compile(r'the file driver: "(family|multi|split)" became "sec2"')
# A few files have datasets of more elements than anybody prints, most of them never written.
SECONDS = 60


class Case:
    """A file of the corpus. One that belongs to others is in a folder with them."""

    def __init__(self, corpus, name):
        self.name, self.source = name, corpus / "public" / name
        # What was many files is one afterwards, and its name must not ask for many.
        self.new_name = re.sub(r"%0?\d*d", "all", name)


def cases(corpus, every, only):
    with open(corpus / "index.csv", newline="") as index:
        rows = [row for row in csv.DictReader(index) if row["set"] == "public" and row["expected"] == "1"]
    return [Case(corpus, row["name"]) for row in rows if only in row["name"]][::every]


def on_all(found, work, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as threads:
        return list(zip(found, threads.map(work, found)))


def lay_out(found, place):
    """A folder for copies, with the files that others need beside them."""
    place.mkdir(parents=True)
    for folder in {case.source.parent for case in found if "/" in case.name}:
        shutil.copytree(folder, place / folder.name, copy_function=shutil.copyfile)
        (place / folder.name).chmod(0o755)
        (place / folder.name / "PRIMARY").touch()


def call(*command):
    """How a command ended, and what it complained about."""
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, f"no end after {SECONDS} s"
    return done.returncode, done.stderr.decode("utf-8", "replace").strip()


def digests(oracle, place, names, jobs):
    """What libhdf5 says of files in a folder, by name."""
    for name in names:
        if "/" in name:
            folder, file = name.split("/")
            with open(place / folder / "PRIMARY", "a") as primary:
                primary.write(f"{file}\n")
    told = place.with_name(f"{place.name}-told")
    command = [sys.executable, oracle, "--batch", place, "--out", told, "--jobs", str(jobs)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    files = {path.name.removesuffix(".jsonl").replace("%25", "%").replace("@@", "/"): path for path in told.iterdir()}
    return {name: [normative(json.loads(line)) for line in path.read_text().splitlines()] for name, path in files.items()}


def normative(value):
    if isinstance(value, dict):
        return {key: normative(one) for key, one in value.items() if not key.startswith("_") and key not in MAY_DIFFER}
    return [normative(one) for one in value] if isinstance(value, list) else value


def differences(old, new):
    """What two digests say differently, a line each."""

    def by_path(lines):
        return {line.get("path", f"the {line.get('kind')}"): line for line in lines}

    olds, news = by_path(old), by_path(new)
    for path in [*olds, *(path for path in news if path not in olds)]:
        left, right = olds.get(path, {}), news.get(path, {})
        for field in sorted(set(left) | set(right)):
            if left.get(field) != right.get(field):
                yield f"{path} {field}: {json.dumps(left.get(field))[:300]} became {json.dumps(right.get(field))[:300]}"


def run(version, found, originals, place, arguments):
    """Writes all files anew for a version of the library, and says what came of it."""
    lay_out(found, place)

    def repack(case):
        # Others that use it meanwhile find the old one.
        new = place / f"{case.new_name}.new"
        status, why = call(arguments.bin, "repack", "--version", version, case.source, new)
        if status == 0:
            new.replace(place / case.new_name)
        return status, why

    counts, wrong, made = collections.Counter(files=len(found)), [], []
    for case, (status, why) in on_all(found, repack, arguments.jobs):
        if status == 0:
            made.append(case)
        elif originals[case.name][0].get("error") == "open":
            counts["refused"] += 1
        else:
            wrong.append((case, f"not written: {why or status}"))
    copies = digests(arguments.oracle, place, [case.new_name for case in made], arguments.jobs)

    def judge(case):
        copy = place / case.new_name
        differs = list(differences(originals[case.name], copies.get(case.new_name, [])))[: arguments.show]
        checked, problem = call(arguments.bin, "check", copy)
        dumped, complaint = call(arguments.h5dump, copy) if arguments.h5dump else (0, "")
        # What h5dump does not print of the original is no fault of the copy.
        printed = dumped == 0 or call(arguments.h5dump, case.source)[0] != 0
        return differs, (checked == 0, f"check: {problem}"), (printed, f"h5dump: {complaint}")

    for case, (differs, (clean, problem), (printed, complaint)) in on_all(made, judge, arguments.jobs):
        now_one = [line for line in differs if ONE_FILE.fullmatch(line)]
        differs = [line for line in differs if line not in now_one]
        counts.update(equal=not differs, one=bool(now_one and not differs), clean=clean, printed=printed)
        wrong += [(case, line) for line in differs] + [(case, problem)] * (not clean) + [(case, complaint)] * (not printed)
    print(
        f"{version}: {counts['files']} files, {counts['equal']} equal ({counts['one']} of them were many files and are one), {counts['clean']} clean, "
        f"{counts['printed']} accepted by h5dump{'' if arguments.h5dump else ' (there is none)'}, {counts['refused']} refused as libhdf5 refuses them"
    )
    for case, line in wrong:
        print(f"    {case.name}: {line}", flush=True)
    good = min(counts["equal"], counts["clean"], counts["printed"])
    return good * 100 >= (counts["files"] - counts["refused"]) * arguments.least


def all_versions(arguments, scratch):
    found = cases(arguments.corpus, arguments.every, arguments.only)
    original = scratch / "original"
    lay_out(found, original)
    for case in found:
        if "/" not in case.name:
            shutil.copyfile(case.source, original / case.name)
    originals = digests(arguments.oracle, original, [case.name for case in found], arguments.jobs)
    versions = arguments.versions.split(",")
    return all([run(version, found, originals, scratch / version, arguments) for version in versions])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="the command hyperslab")
    parser.add_argument("--corpus", required=True, type=pathlib.Path, help="has public/ and index.csv, and oracle/oracle.py beside it")
    parser.add_argument("--versions", default="earliest,1.10,latest")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--every", type=int, default=1, help="one file of so many")
    parser.add_argument("--only", default="", help="files with this in their name")
    parser.add_argument("--show", type=int, default=3, help="so many differences of each file")
    parser.add_argument("--least", type=float, default=99.0, help="fail if fewer percent than these are equal, clean or accepted")
    parser.add_argument("--h5dump", default=shutil.which("h5dump"))
    parser.add_argument("--keep", type=pathlib.Path, help="work in this new folder, and keep it")
    arguments = parser.parse_args()
    arguments.corpus = arguments.corpus.absolute()
    arguments.oracle = arguments.corpus.parent / "oracle" / "oracle.py"
    if arguments.keep:
        return 0 if all_versions(arguments, arguments.keep) else 1
    with tempfile.TemporaryDirectory() as scratch:
        return 0 if all_versions(arguments, pathlib.Path(scratch)) else 1


if __name__ == "__main__":
    sys.exit(main())
