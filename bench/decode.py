"""Video decoding on one core: ours against torchcodec, on the same files and frames, in turns. See README.md."""

import argparse
import json
import pathlib
import random
import sys

import common
import pairs
import probes
from trainer_run import positive

NAMES = ("ours", "peer")
DATASETS = [common.ROOT / "tests/data/datasets" / name for name in ("pusht_sim", "pusht_sim_h264", "aloha_sim")]
RUN_LENGTH = 16
BRIGHTNESS_TOLERANCE = 1.0  # of 255: two conversions from YUV to RGB round differently


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--rounds", type=positive, default=5, help="runs of each side for a row")
    parser.add_argument("--frames", type=positive, default=480, help="frames of a run")
    parser.add_argument("--json", type=pathlib.Path, default=common.ROOT / "build/bench/decode.json")
    parser.add_argument("datasets", nargs="*", type=pathlib.Path, default=DATASETS, help="roots of datasets with videos")
    common.add_peer(parser)
    probes.add_probe(parser)
    options = parser.parse_args()
    facts = common.compare_with_peer(options)
    if facts is None:
        return common.SKIPPED
    commands = probes.commands(options)
    summary, turns = [], {}
    for root in options.datasets:
        video, info = first_video(root), probes.run_probe([options.probe, "video", first_video(root)])
        for kind, requests in (("single frames", single_frames), (f"runs of {RUN_LENGTH}", runs)):
            name = f"{root.name} ({info['codec']}, {info['width']}x{info['height']}), {kind}"
            lines = request_lines(requests(frames_of(root, info), options.frames), fps_of(root))
            turns[name] = measure(commands, video, lines, options.rounds)
            row = pairs.Row(name, name, "us", lambda run: 1e6 * run["cpu_s"] / run["frames"])
            summary += pairs.summarize(turns[name], NAMES, NAMES, [row])
            check_same_frames(name, turns[name][0])
    decoders = {turn["peer"]["decoder"] for rounds in turns.values() for turn in rounds}
    versions = common.versions_of_both(options)
    title = f"CPU time of a frame on one core, peer: {' '.join(sorted(decoders))}, {options.frames} frames, {options.rounds} rounds"
    pairs.print_table([title, common.machine_line(facts), common.versions_line(versions)], NAMES, NAMES, summary)
    common.write_json(options.json, {"title": title, "machine": facts, "versions": versions, "summary": summary,
                                     "rounds": turns})
    return 0


def first_video(root):
    videos = sorted((root / "videos").glob("*/*/*.mp4"))
    if not videos:
        raise common.BenchError(f"no videos/*/*/*.mp4 in {root}. Name a dataset with videos.")
    return videos[0]


def fps_of(root):
    return json.loads((root / "meta/info.json").read_text())["fps"]


def frames_of(root, info):
    return round(info["duration"] * fps_of(root))


# Requests as lists of frame numbers; the same ones for both sides and in every round.
def single_frames(frames, wanted):
    draw = random.Random(0)
    return [[draw.randrange(frames)] for _ in range(wanted)]


def runs(frames, wanted):
    draw = random.Random(0)
    starts = [draw.randrange(max(frames - RUN_LENGTH, 1)) for _ in range(max(wanted // RUN_LENGTH, 1))]
    return [list(range(start, min(start + RUN_LENGTH, frames))) for start in starts]


def request_lines(requests, fps):
    return "".join(" ".join(f"{frame / fps:.6f}" for frame in request) + "\n" for request in requests)


def measure(commands, video, lines, rounds):
    def run_one(name, _):
        return probes.run_probe([*probes.one_core(), *commands[name], "decode", video], lines)
    return pairs.take_turns(NAMES, rounds, run_one)


def check_same_frames(name, turn):
    ours, peer = (turn[side]["brightness"] for side in NAMES)
    if abs(ours - peer) > BRIGHTNESS_TOLERANCE:
        print(f"warning: {name}: the first frames differ (mean {ours:.2f} and {peer:.2f}): the two did not decode the "
              "same.", file=sys.stderr)


if __name__ == "__main__":
    common.run_main("decode", main)
