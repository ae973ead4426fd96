"""Emacs with eglot: the one of this machine, or Debian's below `build/`, with nothing installed.

No package of pip or npm has an Emacs. Debian's takes some ten seconds to fetch, once, and neither root nor a place
outside of `build/`; so tests fetch it, as `make` fetches what pip has.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

BUILD: Final = Path(__file__).parent.parent.parent / "build" / "editors"
EMACS: Final = "emacs-nox"
# Emacs has it inside since version 29, so later releases of Debian may not have the package.
EGLOT: Final = "elpa-eglot"
REMEDY: Final = "please install Emacs 29 or later, or Emacs 28 with eglot, as `emacs` on the PATH"
KEYRING: Final = "/usr/share/keyrings/debian-archive-keyring.gpg"
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
    return _unpacked(BUILD / "emacs")


def newer_emacs() -> Program:
    """Return the Emacs that is backported to this release of Debian.

    Raises:
        NoEmacs: There is none.
    """
    return _unpacked(BUILD / "emacs-backports", backports=True)


def _unpacked(root: Path, *, backports: bool = False) -> Program:
    if not root.exists():
        _unpack(root, backports=backports)
    return _in(root)


def _unpack(root: Path, *, backports: bool) -> None:
    """Unpack Debian's packages and what of theirs this machine lacks; apt has a state of its own for it."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise NoEmacs(REMEDY)
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        place = Path(folder)
        for partial in ("lists/partial", "cache/archives/partial"):
            (place / partial).mkdir(parents=True)
        apt = _Apt({"Dir::State::Lists": place / "lists", "Dir::Cache": place / "cache", "Debug::NoLocking": "true"})
        apt.get("update")
        wanted = [EMACS, EGLOT] if apt.has(EGLOT) else [EMACS]
        if backports:
            apt, suite = _with_backports(apt, place / "sources")
            apt.get("update")
            wanted = ["--target-release", suite, EMACS]
        apt.get("install", "--yes", "--download-only", "--no-install-recommends", *wanted)
        for archive in sorted((place / "cache" / "archives").glob("*.deb")):
            _run(["dpkg-deb", "--extract", str(archive), str(place / "root")])
        unpacked = _in(place / "root")
        sources = [str(file) for file in (place / "root").glob("usr/share/emacs/site-lisp/elpa-src/*/*.el")]
        complaints = ""
        if sources:
            complaints = unpacked.run("-Q", "--batch", "--funcall", "batch-byte-compile", *sources).stderr
        if unpacked.run(*HAS_EGLOT).returncode:
            raise NoEmacs(f"Debian's Emacs does not run when it is unpacked; {REMEDY}:\n{complaints}")
        # Whoever is first has unpacked it for all.
        if not root.exists():
            (place / "root").rename(root)


class _Apt(NamedTuple):
    """apt with options of ours."""

    options: dict[str, object]

    def get(self, *arguments: str) -> str:
        """Return what it printed."""
        return _run([*self._command("apt-get"), *arguments])

    def has(self, package: str) -> bool:
        """Tell whether there is such a package."""
        shown = subprocess.run([*self._command("apt-cache"), "show", package], capture_output=True, check=False)
        return not shown.returncode

    def _command(self, program: str) -> list[str]:
        return [program, "-qq", *(part for name, value in self.options.items() for part in ("-o", f"{name}={value}"))]


def _with_backports(apt: _Apt, folder: Path) -> tuple[_Apt, str]:
    """Return apt with the backports of this release beside its other sources, and what their suite is called."""
    targets = apt.get("indextargets", "--format", "$(COMPONENT) $(REPO_URI) $(CODENAME)", "Created-By: Packages")
    _, uri, codename = next(line for line in targets.splitlines() if line.startswith("main ")).split(" ")
    folder.mkdir()
    for file in Path("/etc/apt/sources.list.d").glob("*"):
        (folder / file.name).symlink_to(file)
    source = f"deb [signed-by={KEYRING}] {uri} {codename}-backports main\n"
    (folder / "backports.list").write_text(source, encoding="utf-8")
    return _Apt({**apt.options, "Dir::Etc::SourceParts": folder}), f"{codename}-backports"


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoEmacs(f"{' '.join(command)} failed; {REMEDY}:\n{done.stderr}")
    return done.stdout


def _in(root: Path) -> Program:
    """Return the Emacs that was unpacked to a folder, which it has not been built for."""
    usr = root / "usr"
    try:
        [dump] = usr.glob("libexec/emacs/*/*/*.pdmp")
        [lisp] = usr.glob("share/emacs/[0-9]*/lisp")
    except ValueError:
        raise NoEmacs(f"there is no Emacs in Debian's packages as they are; {REMEDY}") from None
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
