"""The output folder of a build, in which no foreign file is deleted."""

import shutil
from pathlib import Path

from posenc_series.commands import CommandError

NAMES_OF_FILES = ".files-of-the-web-edition"


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds files that no build has written.

    Raises:
        CommandError: If it does.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise CommandError(f"{folder} is no folder")
    made = {NAMES_OF_FILES}
    if (folder / NAMES_OF_FILES).exists():
        made |= set((folder / NAMES_OF_FILES).read_text("utf-8").splitlines())
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in made:
            raise CommandError(
                f"{folder} holds {name}, which no build has made. Nothing"
                " was deleted. Move it, or name another folder by --output."
            )


def replace_folder(folder: Path, new: Path) -> None:
    """Put a new folder in the place of one that `check_folder` has seen."""
    files = [path for path in new.rglob("*") if path.is_file()]
    names = sorted(path.relative_to(new).as_posix() for path in files)
    (new / NAMES_OF_FILES).write_text("\n".join(names) + "\n", "utf-8")
    if folder.exists():
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(new, folder)
