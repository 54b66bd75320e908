"""Makes held_out.json: what Python LeRobot's own training program comes to with held-out episodes, unrounded.

Usage, from the folder tests/data, with LeRobot 0.6.2 installed: python goldens/make_held_out.py
"""

import json
import sys
import tempfile
from pathlib import Path

from accelerate import Accelerator

from lerobot.scripts import lerobot_train

COMMON = [
    "--dataset.repo_id=local/pusht_keypoints",
    "--dataset.root=datasets/pusht_keypoints",
    "--policy.type=act",
    "--policy.dim_model=64",
    "--policy.n_heads=4",
    "--policy.dim_feedforward=128",
    "--policy.chunk_size=10",
    "--policy.n_action_steps=10",
    "--policy.dropout=0.1",
    "--policy.pretrained_backbone_weights=null",
    "--policy.device=cpu",
    "--policy.push_to_hub=false",
    "--num_workers=0",
    "--log_freq=1",
    "--env_eval_freq=0",
    "--save_checkpoint=false",
]

RUNS = {
    "plain": ["--dataset.eval_split=0.2", "--eval_steps=4", "--steps=12", "--batch_size=8"],
    # The order of the list says which episodes are held out; 251 frames of training, so that step 17 begins an epoch.
    "listed_episodes": [
        "--dataset.episodes=[7,0,5,3]",
        "--dataset.eval_split=0.5",
        "--eval_steps=3",
        "--steps=20",
        "--batch_size=16",
    ],
    # 50 samples in batches of 8: the last batch has two. Evaluations fall inside accumulation windows.
    "capped_and_accumulated": [
        "--dataset.eval_split=0.1",
        "--eval_steps=2",
        "--max_eval_samples=50",
        "--steps=12",
        "--batch_size=8",
        "--accelerator.gradient_accumulation.steps=3",
    ],
}


def main():
    updates, evaluations = [], []
    update_policy = lerobot_train.update_policy
    reduce = Accelerator.reduce

    def recorded_update(tracker, *args, **kwargs):
        tracker, outputs = update_policy(tracker, *args, **kwargs)
        updates.append({"step": len(updates) + 1, "loss": tracker.loss.val, **outputs})
        return tracker, outputs

    def recorded_reduce(self, tensor, *args, **kwargs):
        evaluations.append({"step": len(updates), "eval_loss": tensor.item()})
        return reduce(self, tensor, *args, **kwargs)

    lerobot_train.update_policy = recorded_update
    Accelerator.reduce = recorded_reduce

    golden = {}
    for name, flags in RUNS.items():
        updates.clear()
        evaluations.clear()
        with tempfile.TemporaryDirectory() as folder:
            sys.argv = ["lerobot-train", *COMMON, *flags, f"--output_dir={folder}/run"]
            lerobot_train.main()
        command = ["lerobot-train", *COMMON, *flags]
        golden[name] = {"command": command, "updates": list(updates), "evaluations": list(evaluations)}
    Path("goldens/held_out.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
