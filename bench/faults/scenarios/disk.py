"""A disk that is full: callers are told to come back, nothing is acknowledged that is not kept, and it goes on when
there is room again (F9)."""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.faults.installation import Installation, an_installation
from bench.faults.journal import Outcome
from bench.faults.report import Report
from bench.faults.trial import Scale, Trial, a_trial
from bench.faults.world import Shape

SIZE = "400m"
CHUNK = b"\0" * 65536
TIGHT = {"max_wal_size": "64MB", "min_wal_size": "32MB", "shared_buffers": "16MB"}


class NoSmallDisk(Exception):
    """Only root may mount one, and not everywhere."""


@contextmanager
def a_small_disk() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="admitone-disk-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=711", "tmpfs", folder], capture_output=True, text=True
    )
    if mounted.returncode:
        folder.rmdir()
        raise NoSmallDisk(mounted.stderr.strip())
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
        folder.rmdir()


async def disk(installation: Installation, seed: int, scale: Scale) -> Report:  # noqa: ARG001  It has its own.
    with a_small_disk() as folder, ExitStack() as stack:
        own = await asyncio.to_thread(stack.enter_context, an_installation(folder / "home", **TIGHT))
        async with a_trial("disk", own, seed, Shape(lease_seconds=1.0)) as trial:
            filler = folder / "filler"
            for _ in range(max(1, scale.blows // 4)):
                async with trial.crowd.at_work():
                    await trial.crowd.until_done(30)
                    fill(filler)
                    refused = await _until_refused(trial)
                    await asyncio.sleep(scale.seconds)
                    filler.unlink()
                    await trial.crowd.until_done(30)
            return await trial.verdict(["the disk was full"], figures={"refused while it was full": refused})


def fill(file: Path) -> None:
    """To the last block."""
    with file.open("ab", buffering=0) as full:
        try:
            while True:
                full.write(CHUNK)
        except OSError:
            os.fsync(full.fileno())


async def _until_refused(trial: Trial, wanted: int = 10) -> int:
    """Until that many more calls were refused."""

    def refused() -> int:
        return sum(
            told.outcome is not Outcome.OK and told.status == 503
            for story in trial.crowd.journal.stories().values()
            for told in story.told
        )

    before = refused()
    async with asyncio.timeout(60):
        while (now := refused()) < before + wanted:
            await asyncio.sleep(0.2)
    return now - before
