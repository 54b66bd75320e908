"""The image files keep their promises, as far as reading them can tell.

usage: check_docker.py PROJECT [STAGE]; with the staged programs, their last step is run too
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BACKENDS = ["cpu", "cuda", "rocm", "xpu"]
ON_THE_IMAGES_TORCH = ["rocm", "xpu"]


def instructions(text):
    """(name, arguments) of each instruction, continued lines joined, comments dropped."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def problems(name, text):
    steps = instructions(text)
    runs = [arguments for step, arguments in steps if step == "RUN"]
    base = next((arguments for step, arguments in steps if step == "ARG" and arguments.startswith("BASE_IMAGE")), "")
    if not base:
        yield "has no BASE_IMAGE argument"
    if ":latest" in text:
        yield "names an image whose content changes (latest)"
    users = [arguments for step, arguments in steps if step == "USER"]
    if not users or not re.fullmatch(r"[1-9][0-9]*", users[-1]):
        yield f"runs as {users[-1] if users else 'root'}, needed the number of a user that is not root"
    if not runs or f"check-image {name}" not in runs[-1]:
        yield f"does not end with check-image {name}"
    installs = [run for run in runs if re.search(r"pip3? install", run)]
    if name in ON_THE_IMAGES_TORCH:
        if base != "BASE_IMAGE":
            yield "has a default image, but its torch has to fit the host's driver"
        if installs:
            yield "installs with pip, which may replace the image's torch"
        if not any(re.search(rf'build-and-install \S+ {name} "\$torch"', run) for run in runs):
            yield "does not build against the image's torch"
        if not any("was replaced" in run for run in runs):
            yield "does not check that torch was kept"


def image_check(project, stage, plugin, torch):
    """Runs docker/check-image on the staged programs; returns its exit code and what it printed."""
    environment = dict(os.environ, PATH=f"{stage / 'bin'}:{os.environ['PATH']}", LEROBOT_TORCH_DIR=str(torch))
    done = subprocess.run([project / "docker/check-image", plugin], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def check_last_step(project, stage):
    """A CUDA torch where a ROCm one belongs ends the build of an image, and the message says so."""
    with tempfile.TemporaryDirectory() as directory:
        torch = pathlib.Path(directory) / "torch"
        (torch / "lib").mkdir(parents=True)
        (torch / "version.py").write_text("__version__ = '2.11.0+cu130'\n")
        for name in ("libc10.so", "libtorch_cpu.so", "libc10_cuda.so", "libtorch_cuda.so"):
            (torch / "lib" / name).touch()
        code, text = image_check(project, stage, "cpu", torch)
        if code != 0:
            yield f"check-image cpu ended with {code}: {text}"
        code, text = image_check(project, stage, "rocm", torch)
        if code == 0 or "built for other hardware" not in text:
            yield f"check-image rocm takes a CUDA torch ({code}): {text}"


def main(project, stage=None):
    docker = pathlib.Path(project) / "docker"
    readme = (docker / "README.md").read_text()
    found = []
    for name in BACKENDS:
        file = docker / f"Dockerfile.{name}"
        found += [f"{file.name}: {problem}" for problem in problems(name, file.read_text())]
        if file.name not in readme:
            found.append(f"README.md does not tell of {file.name}")
    for flag in ("--device=/dev/kfd", "--device=/dev/dri", "--group-add", "--ipc=host", "--shm-size"):
        if flag not in readme:
            found.append(f"README.md does not tell of {flag}")
    # The check itself: an image that does everything wrong has every problem.
    wrong = "FROM rocm/pytorch:latest\nRUN pip install torch\nCMD lerobot-train\n"
    if len(list(problems("rocm", wrong))) != 8:
        found.append("this check no longer sees what is wrong with an image: " + "; ".join(problems("rocm", wrong)))
    if stage:
        found += check_last_step(pathlib.Path(project), pathlib.Path(stage))
    if found:
        sys.exit("\n".join(found))


main(*sys.argv[1:])
