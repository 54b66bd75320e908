"""Makes transforms.safetensors and transforms.json: what torchvision's and LeRobot's image transforms give for fixed
parameters, and the sums of whole transforms with drawn ones.

  python make_transforms.py

Needs Python LeRobot (0.6.2) with torch 2.11 and torchvision. Inputs: "ramp" ((i * 7) mod 256), "noise" (two frames of
noise and a gradient) as uint8; float32 is uint8 / 255.
"""

import json
import pathlib

import torch
from lerobot.transforms import transforms as lerobot
from safetensors.torch import save_file
from torchvision.transforms.v2 import functional as F

HERE = pathlib.Path(__file__).parent


def inputs():
    ramp = ((torch.arange(3 * 8 * 10) * 7) % 256).to(torch.uint8).reshape(3, 8, 10)
    generator = torch.Generator().manual_seed(11)
    noise = torch.randint(0, 256, (2, 3, 23, 37), generator=generator).to(torch.uint8)
    noise[0, :, :, 20:] = torch.linspace(0, 255, 17).to(torch.uint8)  # grey: hue has no colour there
    noise[1, 0, :8] = 255
    noise[1, 1:, :8] = 0
    return {"ramp": ramp, "noise": noise}


def affine(image, angle, translate, scale=1.0, shear=(0.0, 0.0), fill=0):
    return F.affine(image, angle=angle, translate=list(translate), scale=scale, shear=list(shear), fill=fill)


# name: (operation, its parameters)
EVERYWHERE = {
    "brightness_down": ("brightness", {"factor": 0.837}),
    "brightness_up": ("brightness", {"factor": 1.19}),
    "contrast_down": ("contrast", {"factor": 0.81}),
    "contrast_up": ("contrast", {"factor": 1.17}),
    "saturation_down": ("saturation", {"factor": 0.53}),
    "saturation_up": ("saturation", {"factor": 1.47}),
    "hue_down": ("hue", {"shift": -0.049}),
    "hue_up": ("hue", {"shift": 0.031}),
    "hue_half": ("hue", {"shift": 0.5}),
    "sharpness_down": ("sharpness", {"factor": 0.55}),
    "sharpness_up": ("sharpness", {"factor": 1.46}),
    "affine_turn": ("affine", {"degrees": 4.7, "dx": 0, "dy": 0}),
    "affine_default": ("affine", {"degrees": -3.1, "dx": 2, "dy": -1}),
    "affine_whole": ("affine", {"degrees": 31.0, "dx": -3, "dy": 2, "scale": 0.8, "shear_x": 10.0, "shear_y": -4.0, "fill": 1}),
}
FLOAT_ONLY = {
    "motion_blur": ("motion_blur", {"kernel_size": 5, "angle": 30.0}),
    "motion_blur_long": ("motion_blur", {"kernel_size": 11, "angle": 250.0}),
    "patches": ("patches", {"centers": [[0.2, 0.7], [0.9, 0.1]], "sigmas": [0.1, 0.24], "factors": [1.5, 0.5]}),
    "shadow": ("shadow", {"opacity": 0.5, "start": 0.3, "width": 0.4, "direction": -1.0}),
    "highlight": ("shadow", {"opacity": 0.35, "start": 0.9, "width": 0.6, "direction": 1.0}),
    "holes": ("holes", {"sizes": [[0.3, 0.2], [0.01, 0.01]], "positions": [[0.5, 0.1], [1.0, 0.99]], "fill": 0.25}),
    "gamma": ("gamma", {"gamma": 0.6}),
    "temperature": ("temperature", {"temperature": 4321}),
    "temperature_top": ("temperature", {"temperature": 15000}),
}


def apply(operation, p, image):
    match operation:
        case "brightness":
            return F.adjust_brightness(image, p["factor"])
        case "contrast":
            return F.adjust_contrast(image, p["factor"])
        case "saturation":
            return F.adjust_saturation(image, p["factor"])
        case "hue":
            return F.adjust_hue(image, p["shift"])
        case "sharpness":
            return F.adjust_sharpness(image, p["factor"])
        case "affine":
            return affine(image, p["degrees"], (p["dx"], p["dy"]), p.get("scale", 1.0),
                          (p.get("shear_x", 0.0), p.get("shear_y", 0.0)), p.get("fill", 0))
        case "motion_blur":
            return lerobot.MotionBlur().transform(image, p)
        case "patches":
            return lerobot.GaussianPatchBrightness().transform(image, p)
        case "shadow":
            return lerobot.RandomShadow().transform(image, p)
        case "holes":
            return lerobot.CoarseDropout(fill_value=p["fill"]).transform(image, p)
        case "gamma":
            return lerobot.GammaCorrection().transform(image, p)
        case "temperature":
            return lerobot.PlanckianJitter().transform(image, p)


def float32(p):
    """Drawn parameters are float32 numbers."""
    exact = {"degrees", "scale", "shear_x", "shear_y"}
    return {k: torch.tensor(v).item() if isinstance(v, float) and k not in exact else v for k, v in p.items()}


def drawn_sums(image):
    """8-bit sums of the default transforms, each with the parameters that seed 5 draws, and of three whole ones."""
    config = lerobot.ImageTransformsConfig(enable=True)
    singles = {}
    for name, choice in config.tfs.items():
        transform = lerobot.make_transform_from_config(choice)
        torch.manual_seed(5)
        params = transform.make_params([image])
        params.pop("fn_idx", None)
        singles[name] = {"params": params, "sum": int(transform.transform(image, params | ({"fn_idx": range(4)} if "brightness_factor" in params else {})).sum())}
    return singles


def main():
    tensors, cases = {}, []
    for input_name, image in inputs().items():
        tensors["input." + input_name] = image
        for name, (operation, params) in (EVERYWHERE | FLOAT_ONLY).items():
            params = float32(params)
            kinds = {"u8": image, "f32": image.float() / 255} if name in EVERYWHERE else {"f32": image.float() / 255}
            for kind, pixels in kinds.items():
                key = f"{input_name}.{name}.{kind}"
                tensors[key] = apply(operation, params, pixels).contiguous()
                cases.append({"key": key, "input": "input." + input_name, "kind": kind, "operation": operation, "params": params})
    save_file(tensors, HERE / "transforms.safetensors")
    text = json.dumps({"cases": cases, "seed_5": drawn_sums(inputs()["ramp"])}, indent=1)
    (HERE / "transforms.json").write_text(text + "\n")
    print(len(cases), "cases", {k: v["sum"] for k, v in drawn_sums(inputs()["ramp"]).items()})


main()
