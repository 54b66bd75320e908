"""Packs, unpacks into an empty prefix, and uses what came out.

Programs, libtorch of the CPU and the CPU plugin train alone; the package of another backend adds its line to
`lerobot-accel list`, and taking it away again leaves a trainer that works. The Debian packages hold the same files and
name what they need.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

OTHER = "cuda"
TINY_POLICY = ["--policy.type=act", "--policy.pretrained_backbone_weights=null", "--policy.dim_model=64", "--policy.n_heads=4", "--policy.dim_feedforward=128",
               "--policy.n_encoder_layers=1", "--policy.n_vae_encoder_layers=1", "--policy.latent_dim=8",
               "--policy.chunk_size=8", "--policy.n_action_steps=8", "--batch_size=2", "--num_workers=1"]


def run(command, **options):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def expect(truth, message):
    if not truth:
        sys.exit(message)


def pack(arguments, generator, components, target):
    run([arguments.cpack, "--config", arguments.build / "CPackConfig.cmake", "-G", generator, "-B", target,
         "-D", "CPACK_COMPONENTS_ALL=" + ";".join(components)])


def archive(directory, name):
    found = list(directory.glob(name + "-[0-9]*.tar.gz"))
    expect(len(found) == 1, f"{directory}: expected one {name}-*.tar.gz, found {[f.name for f in found]}")
    return found[0]


def install(package, prefix):
    """Unpacks an archive; returns its files, relative to the prefix."""
    with tarfile.open(package) as tar:
        tar.extractall(prefix)
        return [member.name for member in tar.getmembers() if not member.isdir()]


class Installation:
    def __init__(self, prefix, dataset, home):
        self.prefix, self.dataset = prefix, dataset
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "XDG_DATA_HOME": str(home / "none")}

    def plugins(self):
        text = run([self.prefix / "bin/lerobot-accel", "explain", "--json"], env=self.environment)
        return {plugin["id"]: plugin for plugin in json.loads(text)["plugins"]}

    def train(self, output):
        log = run([self.prefix / "bin/lerobot-train", f"--dataset.root={self.dataset}", "--steps=2", "--log_freq=1",
                   f"--output_dir={output}", *TINY_POLICY], env=self.environment)
        expect((output / "checkpoints/last/pretrained_model/model.safetensors").is_file(), "no checkpoint:\n" + log)

    def check_dataset(self):
        verdict = run([self.prefix / "bin/lerobot-data", "check", self.dataset], env=self.environment)
        expect(": sound (" in verdict, verdict)


def check_archives(arguments, work):
    packed = work / "archives"
    pack(arguments, "TGZ", ["host", "trainer", "torch-cpu", "plugin-cpu", "plugin-" + OTHER], packed)
    prefix = work / "prefix"
    installation = Installation(prefix, arguments.dataset, work / "home")
    for name in ("lerobot-native", "lerobot-torch-cpu", "lerobot-accel-cpu"):
        install(archive(packed, name), prefix)
    expect(set(installation.plugins()) == {"cpu"}, f"three packages give the plugins {set(installation.plugins())}")
    expect(installation.plugins()["cpu"]["state"] == "usable", f"cpu: {installation.plugins()['cpu']}")
    installation.train(work / "out1")
    installation.check_dataset()

    added = install(archive(packed, "lerobot-accel-" + OTHER), prefix)
    expect(all(f"lerobot/accel.d/{OTHER}/" in name for name in added), f"it leaves its directory: {added}")
    other = installation.plugins()[OTHER]
    expect(other["stage"] in ("probe", "torch", "ready"), f"{OTHER}: its files are not in order: {other}")
    expect(OTHER in run([prefix / "bin/lerobot-accel", "list"], env=installation.environment), "list does not show it")

    for name in added:
        (prefix / name).unlink()
    expect(set(installation.plugins()) == {"cpu"}, "it is still there")
    installation.train(work / "out2")


def check_debian_packages(arguments, work):
    if not shutil.which("dpkg-deb"):
        print("no dpkg-deb here: the Debian packages are not checked")
        return
    packed = work / "debian"
    pack(arguments, "DEB", ["host", "trainer", "plugin-sdk", "plugin-cpu", "plugin-" + OTHER], packed)
    depends = {}
    files = {}
    for package in packed.glob("*.deb"):
        name = run(["dpkg-deb", "-f", package, "Package"]).strip()
        depends[name] = run(["dpkg-deb", "-f", package, "Depends"]).strip()
        files[name] = [line.split()[-1] for line in run(["dpkg-deb", "-c", package]).splitlines() if not line.endswith("/")]
    names = {"lerobot-native", "lerobot-accel-sdk", "lerobot-accel-cpu", "lerobot-accel-" + OTHER}
    expect(set(files) == names, f"packages: {set(files)}, expected {names}")
    for needed in ("libspdlog", "libavformat", "libavcodec", "libswscale", "libcurl4", "libpng16"):
        expect(needed in depends["lerobot-native"], f"lerobot-native depends on {depends['lerobot-native']}")
    for needed in ("lerobot-native", "lerobot-torch-cpu"):
        expect(needed in depends["lerobot-accel-cpu"], f"lerobot-accel-cpu depends on {depends['lerobot-accel-cpu']}")
    expect("torch" not in depends["lerobot-accel-" + OTHER], "an accelerator's package uses the user's torch")
    expect("./usr/include/lerobot_accel.h" in files["lerobot-accel-sdk"], "no header in lerobot-accel-sdk")
    owners = {}
    for name, listed in files.items():
        for file in listed:
            expect(owners.setdefault(file, name) == name, f"{file} is in {owners[file]} and in {name}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cpack", required=True)
    for name in ("--build", "--dataset", "--work"):
        parser.add_argument(name, type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    os.umask(0o022)
    shutil.rmtree(arguments.work, ignore_errors=True)
    (arguments.work / "home").mkdir(parents=True)
    check_archives(arguments, arguments.work)
    check_debian_packages(arguments, arguments.work)
    shutil.rmtree(arguments.work)


main()
