"""Follows docs/writing-a-plugin.md literally, from an empty folder: writes its files, runs its commands.

The commands find the SDK, as `cmake --install` gives it, a libtorch, the staged programs and a dataset. The document's
files have to be those of plugin-api/template.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

FENCE = re.compile(r"^```(\w+)(?: title=(\S+))?\n(.*?)^```$", re.M | re.S)


def main():
    parser = argparse.ArgumentParser()
    for name in ("--source", "--build", "--stage", "--libtorch", "--dataset", "--work"):
        parser.add_argument(name, type=pathlib.Path, required=True)
    parser.add_argument("--launcher", default="", help="of the compiler, e.g. ccache")
    arguments = parser.parse_args()

    blocks = FENCE.findall((arguments.source / "docs/writing-a-plugin.md").read_text())
    files = {title: text for _, title, text in blocks if title}
    commands = [text for language, title, text in blocks if language == "sh" and not title]
    template = arguments.source / "plugin-api/template"
    expected = {path.name: path.read_text() for path in template.iterdir()}
    if files != expected:
        different = sorted(name for name in files.keys() | expected.keys() if files.get(name) != expected.get(name))
        sys.exit(f"the document's files and plugin-api/template differ: {', '.join(different)}")

    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    sdk = arguments.work / "sdk"
    subprocess.run(["cmake", "--install", arguments.build, "--component", "plugin-sdk", "--prefix", sdk], check=True, stdout=subprocess.DEVNULL)
    environment = dict(os.environ, LEROBOT_SDK=str(sdk), LIBTORCH=str(arguments.libtorch), DATASET=str(arguments.dataset),
                       PATH=f"{arguments.stage / 'bin'}:{os.environ['PATH']}", CMAKE_BUILD_PARALLEL_LEVEL="2",
                       CMAKE_CXX_COMPILER_LAUNCHER=arguments.launcher)
    # The first commands make the folder; the files come before those that build them.
    folder = arguments.work / "my-plugin"
    write = "".join(f"cp '{arguments.work / name}' .\n" for name in files)
    for name, text in files.items():
        (arguments.work / name).write_text(text)
    script = "set -eux\n" + commands[0] + write + "".join(commands[1:])
    subprocess.run(["bash", "-c", script], cwd=arguments.work, env=environment, check=True)
    if not (folder / "output/checkpoints/last/pretrained_model/model.safetensors").is_file():
        sys.exit("the training run left no checkpoint")


main()
