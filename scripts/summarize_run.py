"""Prints what a training run came to: summarize_run.py OUTPUT_DIR."""

import json
import os
import pathlib
import sys


def main():
    output = pathlib.Path(sys.argv[1])
    lines = [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]
    records = [line for line in lines if "loss" in line]
    evaluations = [line for line in lines if "eval_loss" in line]
    if not records:
        sys.exit(f"{output}: metrics.jsonl holds no line; was the run shorter than --log_freq?")
    first, last = records[0], records[-1]
    checkpoint = output / "checkpoints" / os.readlink(output / "checkpoints" / "last")
    updates_per_second = sum(1 / r["step_s"] for r in records if r["step_s"] > 0) / len(records)
    print(f"loss               {first['loss']:.3f} (step {first['step']}) -> {last['loss']:.3f} (step {last['step']})")
    print(f"l1_loss            {first['l1_loss']:.3f} -> {last['l1_loss']:.3f}")
    if evaluations:
        early, late = evaluations[0], evaluations[-1]
        print(f"held-out loss      {early['eval_loss']:.3f} (step {early['step']}) -> {late['eval_loss']:.3f} (step {late['step']})")
    print(f"updates per second {updates_per_second:.2f}")
    print(f"checkpoint         {checkpoint}")
    print("\nNext: go on from there, with ten times as many updates:")
    print(f"  build/release/stage/bin/lerobot-train --resume=true --config_path={checkpoint / 'pretrained_model' / 'train_config.json'} --steps={10 * last['step']}")
    print("or see every flag: build/release/stage/bin/lerobot-train --policy.type=act --help")


if __name__ == "__main__":
    main()
