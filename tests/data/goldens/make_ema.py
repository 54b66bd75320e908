"""Writes beside this file, with torch 2.11 and diffusers 0.39: ema.json, the average of the weights of diffusers'
EMAModel over 14 updates under several settings, and ema_state.pt, its state as the trainer of Python LeRobot saves it
(the last state of the first case)."""

import json
import math
from pathlib import Path

import torch
from diffusers.training_utils import EMAModel

HERE = Path(__file__).parent
UPDATES = 14
SHAPES = [[2, 3], [4], []]
# ema.* of the trainer
CASES = {
    "default": {},
    "constant": {"decay": 0.9},
    "update_after_step": {"update_after_step": 3, "inv_gamma": 2.0, "power": 0.6},
    "clamped": {"min_decay": 0.5, "max_decay": 0.8},
    "constant_after": {"decay": 0.99, "update_after_step": 2},
}


def weights(update):
    """Values of several sizes and both signs, which change by less than a factor of two."""
    start = iter(range(1, 12))
    return [torch.tensor([(-1) ** i * 10.0 ** (i % 4 - 2) * (1 + 0.3 * math.sin(i + 0.4 * update))
                          for _, i in zip(range(math.prod(shape)), start)]).reshape(shape) for shape in SHAPES]


def model(config, parameters):
    """As the trainer makes it."""
    constant = config.get("decay")
    return EMAModel(
        parameters,
        decay=config.get("max_decay", 0.9999) if constant is None else constant,
        min_decay=config.get("min_decay", 0.0) if constant is None else constant,
        update_after_step=config.get("update_after_step", 0),
        use_ema_warmup=True,
        inv_gamma=config.get("inv_gamma", 1.0),
        power=config.get("power", 0.75),
    )


def flat(tensors):
    return [tensor.flatten().tolist() for tensor in tensors]


cases = []
for name, config in CASES.items():
    parameters = [torch.nn.Parameter(weight) for weight in weights(0)]
    ema = model(config, parameters)
    decays, shadows = [], []
    for update in range(1, UPDATES + 1):
        with torch.no_grad():
            for parameter, weight in zip(parameters, weights(update)):
                parameter.copy_(weight)
        ema.step(parameters)
        decays.append(ema.cur_decay_value)
        shadows.append(flat(ema.shadow_params))
    cases.append({"name": name, "config": config, "decays": decays, "shadows": shadows})
    if name == "default":
        torch.save(ema.state_dict(), HERE / "ema_state.pt")

golden = {"shapes": SHAPES, "weights": [flat(weights(update)) for update in range(UPDATES + 1)], "cases": cases}
(HERE / "ema.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")
