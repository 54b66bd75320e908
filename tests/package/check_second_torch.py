"""The same lerobot-train runs on a second torch: trains with the plugins that scripts/build-for-torch made.

usage: check_second_torch.py PROJECT STAGE DATASET WORK; ends with 77 when no second torch was built
"""
import json
import pathlib
import shutil
import subprocess
import sys

project, stage, dataset, work = map(pathlib.Path, sys.argv[1:])
builds = [b for b in sorted(project.glob("build/torch-*/stage/lib/lerobot/accel.d")) if (b / "cpu/manifest.json").is_file()]
ready = []
for plugins in builds:
    version = json.loads((plugins / "cpu/manifest.json").read_text())["torch_version"]
    minor = ".".join(version.split(".")[:2])
    if (stage / f"lib/lerobot/trainer/{minor}/liblerobot_trainer.so").is_file():
        ready.append((minor, plugins))
if not ready:
    print("no second torch here: scripts/build-for-torch 2.10", stage)
    sys.exit(77)

shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
for minor, plugins in ready:
    done = subprocess.run(
        [stage / "bin/lerobot-train", f"--plugins={plugins}", "--plugin=cpu", f"--dataset.root={dataset}", "--policy.type=act",
         "--policy.dim_model=64", "--policy.n_heads=4", "--policy.dim_feedforward=128", "--policy.chunk_size=10",
         "--policy.n_action_steps=10", "--policy.pretrained_backbone_weights=null", "--steps=3", "--log_freq=1",
         "--num_workers=0", f"--output_dir={work / minor}"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout)
    if done.returncode != 0 or not (work / minor / "checkpoints/last/pretrained_model/model.safetensors").is_file():
        sys.exit(f"training on torch {minor} ended with {done.returncode}")
