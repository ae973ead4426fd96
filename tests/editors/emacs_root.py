"""Emacs with eglot: the one of this machine, or Debian's below `build/`, with nothing installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

BUILD: Final = Path(__file__).parent.parent.parent / "build" / "editors"
ROOT: Final = BUILD / "emacs"
PACKAGES: Final = ("emacs-nox", "elpa-eglot")
HAS_EGLOT: Final = ["-q", "--batch", "--eval", "(progn (require 'package) (package-initialize) (require 'eglot))"]


class NoEmacs(Exception):
    """There is no Emacs with eglot, and none can be had; the message says what to do."""


class Program(NamedTuple):
    """How to run an editor.

    Attributes:
        command: The program, and options that say where its parts are.
        environment: Variables that it needs.
    """

    command: list[str]
    environment: dict[str, str]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        environment = {**os.environ, **self.environment}
        return subprocess.run([*self.command, *arguments], env=environment, capture_output=True, text=True, check=False)


def emacs() -> Program:
    """Return Emacs with eglot.

    Raises:
        NoEmacs: There is none.
    """
    installed = shutil.which("emacs")
    if installed and not (found := Program([installed], {})).run(*HAS_EGLOT).returncode:
        return found
    if not ROOT.exists():
        _unpack()
    return _in(ROOT)


def _unpack() -> None:
    """Unpack Debian's packages and what of theirs this machine lacks; apt has a state of its own for it."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise NoEmacs("the tests need Emacs 29, or Emacs 28 with eglot, as `emacs` on the PATH: please install it")
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        place = Path(folder)
        for partial in ("lists/partial", "cache/archives/partial"):
            (place / partial).mkdir(parents=True)
        options = [f"Dir::State::Lists={place / 'lists'}", f"Dir::Cache={place / 'cache'}", "Debug::NoLocking=true"]
        apt = ["apt-get", "-qq", *(part for option in options for part in ("-o", option))]
        _run([*apt, "update"])
        _run([*apt, "install", "--yes", "--download-only", "--no-install-recommends", *PACKAGES])
        for archive in sorted((place / "cache" / "archives").glob("*.deb")):
            _run(["dpkg-deb", "--extract", str(archive), str(place / "root")])
        unpacked = _in(place / "root")
        sources = [str(file) for file in (place / "root").glob("usr/share/emacs/site-lisp/elpa-src/*/*.el")]
        done = unpacked.run("-Q", "--batch", "--funcall", "batch-byte-compile", *sources)
        if unpacked.run(*HAS_EGLOT).returncode:
            raise NoEmacs(f"Debian's Emacs does not run when it is unpacked; please install {PACKAGES}:\n{done.stderr}")
        # Whoever is first has unpacked it for all.
        if not ROOT.exists():
            (place / "root").rename(ROOT)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoEmacs(f"{' '.join(command)} failed; please install {' and '.join(PACKAGES)}:\n{done.stderr}")


def _in(root: Path) -> Program:
    """Return the Emacs that was unpacked to a folder, which it has not been built for."""
    usr = root / "usr"
    try:
        [dump] = usr.glob("libexec/emacs/*/*/*.pdmp")
        [lisp] = usr.glob("share/emacs/[0-9]*/lisp")
    except ValueError:
        raise NoEmacs(f"there is no Emacs in Debian's packages as they are; please install {PACKAGES}") from None
    packages = [f"--directory={folder}" for folder in sorted(usr.glob("share/emacs/site-lisp/elpa-src/*"))]
    return Program(
        [str(usr / "bin/emacs-nox"), f"--dump-file={dump}", *packages],
        {
            "EMACSDATA": str(lisp.with_name("etc")),
            "EMACSDOC": str(lisp.with_name("etc")),
            "EMACSLOADPATH": str(lisp),
            "EMACSPATH": str(dump.parent),
            "LD_LIBRARY_PATH": ":".join(str(folder) for folder in usr.glob("lib/*-linux-gnu*")),
        },
    )
