"""An operator at the command line."""

import asyncio
import os
import sys
from pathlib import Path


class Operator:
    def __init__(self, database_url: str, home: Path) -> None:
        self._surroundings = {"PATH": os.environ["PATH"], "DATABASE_URL": database_url, "ADMITONE_DATA": str(home)}

    async def types(self, *words: str, typed: str = "", **surroundings: str) -> tuple[int, str]:
        """The status, and everything that was said; `typed` is what is answered to questions."""
        command = [sys.executable, "-m", "admitone.entrypoints.cli", *words]
        process = await asyncio.create_subprocess_exec(
            *command, env={**self._surroundings, "COLUMNS": "300", **surroundings}, stdin=-1, stdout=-1, stderr=-2
        )
        said, _ = await process.communicate(typed.encode())
        assert process.returncode is not None
        return process.returncode, said.decode()
