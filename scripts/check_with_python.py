"""Loads a checkpoint with Python LeRobot, as its trainer does on --resume=true, and compares what it got with the files."""

import io
import logging
import math
import random
import sys
import zipfile
from pathlib import Path

import torch
from safetensors.torch import load_file

from lerobot.common.train_utils import load_training_metadata
from lerobot.configs.train import TrainPipelineConfig
from lerobot.optim.factory import make_optimizer_and_scheduler
from lerobot.optim.optimizers import load_optimizer_state
from lerobot.optim.schedulers import load_scheduler_state
from lerobot.policies.factory import get_policy_class, make_pre_post_processors
from lerobot.utils.random_utils import load_rng_state
from lerobot.utils.utils import flatten_dict


def check(condition, what):
    if not condition:
        raise SystemExit(f"FAILED: {what}")


def same_tensors(found, expected, what):
    check(found.keys() == expected.keys(), f"{what}: keys differ: {sorted(found.keys() ^ expected.keys())[:8]}")
    for key, tensor in expected.items():
        check(torch.equal(found[key].cpu(), tensor), f"{what}: {key} differs")


def check_policy(cfg, pretrained):
    cfg.policy.device = "cpu"
    cfg.policy.pretrained_backbone_weights = None  # the weights come from the checkpoint
    policy = get_policy_class(cfg.policy.type).from_pretrained(str(pretrained), config=cfg.policy)
    same_tensors(policy.state_dict(), load_file(pretrained / "model.safetensors"), "model.safetensors")
    return policy


def check_action(cfg, policy, pretrained):
    preprocessor, postprocessor = make_pre_post_processors(
        cfg.policy,
        pretrained_path=str(pretrained),
        preprocessor_overrides={"device_processor": {"device": "cpu"}},
    )
    observation = {name: torch.zeros(*feature.shape) for name, feature in cfg.policy.input_features.items()}
    policy.reset()
    action = postprocessor(policy.select_action(preprocessor(observation)))
    check(math.isfinite(float(action.sum())), f"the action {action} is not finite")
    return action


def check_training_state(cfg, policy, directory):
    metadata = load_training_metadata(directory)
    load_rng_state(directory)
    rng = load_file(directory / "rng_state.safetensors")
    check(torch.equal(torch.get_rng_state(), rng["torch_rng_state"]), "torch's random state differs")
    check(list(random.getstate()[1]) == rng["py_rng_state"].tolist(), "Python's random state differs")

    optimizer, scheduler = make_optimizer_and_scheduler(cfg, policy)
    optimizer = load_optimizer_state(optimizer, directory)
    state = flatten_dict({"state": optimizer.state_dict()["state"]})
    same_tensors(state, load_file(directory / "optimizer_state.safetensors"), "optimizer_state.safetensors")
    check((directory / "scheduler_state.json").exists() == (scheduler is not None), "scheduler_state.json and the configuration disagree")
    if scheduler is not None:
        load_scheduler_state(scheduler, directory)
    return metadata["step"]


def check_average(cfg, policy, checkpoint):
    """The average of the weights, as the trainer takes it up again, and as a policy of its own."""
    from diffusers.training_utils import EMAModel

    state = torch.load(checkpoint / "training_state" / "ema_state.pt", map_location="cpu", weights_only=True)
    again = io.BytesIO()
    torch.save(state, again)
    ours = zipfile.ZipFile(checkpoint / "training_state" / "ema_state.pt").read("ema_state/data.pkl")
    check(ours == zipfile.ZipFile(again).read("archive/data.pkl"), "ema_state.pt: torch would pickle it otherwise")
    ema = EMAModel(policy.parameters())
    ema.load_state_dict(state)
    shadow = dict(zip((name for name, _ in policy.named_parameters()), ema.shadow_params, strict=True))
    average = check_policy(cfg, checkpoint / "pretrained_model_ema")
    for name, parameter in average.named_parameters():
        check(torch.equal(shadow[name], parameter), f"pretrained_model_ema: {name} is not the average")
    for name, buffer in average.named_buffers():
        check(torch.equal(dict(policy.named_buffers())[name], buffer), f"pretrained_model_ema: the buffer {name} differs")
    check_action(cfg, average, checkpoint / "pretrained_model_ema")
    ema.step(policy.parameters())
    return f", average of {state['optimization_step']} updates (the next decays by {ema.cur_decay_value:.6g})"


def main():
    logging.disable(logging.INFO)
    checkpoint = Path(sys.argv[1])
    pretrained = checkpoint / "pretrained_model"
    cfg = TrainPipelineConfig.from_pretrained(pretrained / "train_config.json")
    policy = check_policy(cfg, pretrained)
    action = check_action(cfg, policy, pretrained)
    step = check_training_state(cfg, policy, checkpoint / "training_state")
    average = check_average(cfg, policy, checkpoint) if (checkpoint / "training_state" / "ema_state.pt").exists() else ""
    print(f"OK: Python LeRobot loads {checkpoint}: {cfg.policy.type}, step {step}, action {action.flatten().tolist()}{average}")


if __name__ == "__main__":
    main()
