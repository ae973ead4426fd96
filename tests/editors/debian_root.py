"""Vim with ALE and Helix out of Debian's packages, unpacked below `build/`, with nothing installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emacs_root import BUILD, KEYRING, NoEmacs, Program

if TYPE_CHECKING:
    from collections.abc import Iterator

# The first release of Debian that has Helix.
HELIX_RELEASE: Final = "trixie"


def vim_with_ale() -> Program:
    """Return Vim; `$ALE` is where ALE is.

    Raises:
        NoEmacs: There is none, and none can be had.
    """
    root = _unpacked("vim", ["vim", "vim-ale"])
    installed, unpacked = shutil.which("vim"), root / "usr/bin/vim.basic"
    if not unpacked.exists() and installed is None:
        raise NoEmacs("the tests need Vim 9 as `vim` on the PATH: please install it")
    runtime = {"VIMRUNTIME": str(found)} if (found := _only(root, "usr/share/vim/vim9*")) else {}
    return Program(
        [str(unpacked) if runtime and unpacked.exists() else str(installed), "-n"],
        {"ALE": str(root / "usr/share/vim-ale"), "TERM": "dumb", **runtime},
    )


def helix() -> Program:
    """Return Helix, which brings the libraries of its own release with it.

    Raises:
        NoEmacs: There is none, and none can be had.
    """
    if installed := shutil.which("hx"):
        return Program([installed], {})
    root = _unpacked("helix", ["hx"], HELIX_RELEASE)
    loader = _only(root, "usr/lib64/ld-linux-*") or _only(root, "usr/lib/ld-linux-*")
    libraries = ":".join(str(folder) for folder in root.glob("usr/lib/*-linux-gnu"))
    command = [str(loader), "--library-path", libraries, str(root / "usr/lib/hx/hx")]
    return Program(command, {"HELIX_RUNTIME": str(root / "usr/lib/hx/runtime")})


def _only(root: Path, pattern: str) -> Path | None:
    return next(iter(sorted(root.glob(pattern))), None)


def _unpacked(name: str, packages: list[str], release: str | None = None) -> Path:
    """Return the folder with packages and what of theirs this machine lacks, or of another release all of theirs."""
    root = BUILD / name
    if root.exists():
        return root
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise NoEmacs(f"the tests need {name} on the PATH: please install it")
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        place = Path(folder)
        options = list(_state_below(place, release))
        _run(["apt-get", *options, "update"])
        _run(["apt-get", *options, "install", "--yes", "--download-only", "--no-install-recommends", *packages])
        for archive in sorted((place / "cache" / "archives").glob("*.deb")):
            _run(["dpkg-deb", "--extract", str(archive), str(place / "root")])
        # Whoever is first has unpacked it for all.
        if not root.exists():
            (place / "root").rename(root)
    return root


def _state_below(place: Path, release: str | None) -> Iterator[str]:
    """Yield the options by which apt knows nothing of this machine but, for its own release, what is installed."""
    for partial in ("lists/partial", "cache/archives/partial"):
        (place / partial).mkdir(parents=True)
    yield from ("-qq", "-o", "Debug::NoLocking=true")
    yield from ("-o", f"Dir::State::Lists={place / 'lists'}", "-o", f"Dir::Cache={place / 'cache'}")
    if release is None:
        return
    targets = _run(["apt-get", "indextargets", "--format", "$(COMPONENT) $(REPO_URI) $(SUITE)", "Created-By: Packages"])
    of_debian = [line.split() for line in targets.splitlines() if line.startswith("main ")]
    mirror = next(uri for _, uri, suite in of_debian if "-" not in suite)
    (place / "status").touch()
    (place / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror} {release} main\n", encoding="utf-8")
    yield from ("-o", f"Dir::State::status={place / 'status'}", "-o", f"Dir::Etc::SourceList={place / 'sources.list'}")
    yield from ("-o", f"Dir::Etc::SourceParts={place / 'none'}")


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoEmacs(f"{' '.join(command)} failed; please install the editor:\n{done.stderr}")
    return done.stdout
