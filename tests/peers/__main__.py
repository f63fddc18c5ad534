"""`make peers`: install the two peers if that can be done, run what can be run, and say what was not."""

import os
import shutil
import subprocess
import sys

from tests.peers.node import HOME, PACKAGES


def main() -> int:
    npm = shutil.which("npm")
    if npm is None:
        print("There is no npm here: the two peers for node were not run.")
        return 0
    HOME.mkdir(parents=True, exist_ok=True)
    shutil.copy(PACKAGES, HOME / "package.json")
    # No scripts: what is installed is run by us, on this machine's own address, and not by itself.
    install = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    if subprocess.run(install, cwd=HOME, check=False).returncode != 0:
        print("The packages could not be installed: the two peers for node were not run.")
        return 0
    tests = [sys.executable, "-m", "pytest", "-n", "1", "-rs", "tests/peers"]
    return subprocess.run(tests, env={**os.environ, "PEERS": "1"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
