"""Writes beside this file, with torch: small.pth (torch.save's zip format), small_legacy.pth (the format before torch
1.6), and two that our reader must refuse, whole_module.pth and nested.pth."""

from collections import OrderedDict
from pathlib import Path

import torch

HERE = Path(__file__).parent

layer = torch.nn.BatchNorm2d(2)
with torch.no_grad():
    layer.weight.copy_(torch.tensor([1.5, -2.5]))
state = layer.state_dict()  # an OrderedDict with _metadata and num_batches_tracked
state["grid"] = torch.arange(6, dtype=torch.float32).reshape(2, 3).t()  # not contiguous
rows = torch.arange(8, dtype=torch.int32)
state["first"], state["rest"] = rows[:2], rows[2:]  # one storage, two views
state["half"] = torch.tensor([0.5, -1.0], dtype=torch.float16)
state["brain"] = torch.tensor([[3.0]], dtype=torch.bfloat16)
state["scalar"] = torch.tensor(7.25, dtype=torch.float64)
state["mask"] = torch.tensor([True, False, True])
state["empty"] = torch.zeros(0, 4)
state["parameter"] = torch.nn.Parameter(torch.tensor([9.0]))

torch.save(state, HERE / "small.pth")
torch.save(state, HERE / "small_legacy.pth", _use_new_zipfile_serialization=False)
torch.save(torch.nn.Linear(1, 1), HERE / "whole_module.pth")
torch.save(OrderedDict(model=state, epoch=3), HERE / "nested.pth")
