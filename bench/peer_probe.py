"""What data_probe measures, of Python LeRobot, in its environment's Python: one JSON line a run.

peer_probe.py open ROOT       opens a dataset as ACT does and reads its first sample
peer_probe.py decode FILE     decodes the seconds on standard input, one request a line
"""

import json
import os
import sys
import time

CHUNK_SIZE = 100  # ACT's actions per sample


def resident_mib():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def open_dataset(root):
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    with open(f"{root}/meta/info.json") as file:
        fps = json.load(file)["fps"]
    before, begin = resident_mib(), time.perf_counter()
    dataset = LeRobotDataset("local/probe", root=root,
                             delta_timestamps={"action": [i / fps for i in range(CHUNK_SIZE)]})
    dataset[0]
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "growth_mib": resident_mib() - before, "frames": len(dataset)}


def torchcodec_decoder(path):
    """torchcodec as LeRobot opens it: without reading the whole file first. One request is one call."""
    from torchcodec.decoders import VideoDecoder

    decoder = VideoDecoder(path, seek_mode="approximate")
    fps = decoder.metadata.average_fps
    return lambda seconds: decoder.get_frames_at(indices=[round(second * fps) for second in seconds]).data


def pyav_decoder(path):
    """LeRobot's own decoding where torchcodec does not work: it opens the file for each request."""
    from lerobot.datasets.video_utils import decode_video_frames_pyav

    return lambda seconds: decode_video_frames_pyav(path, seconds, tolerance_s=0.05, return_uint8=True)


def decode(path):
    requests = [[float(word) for word in line.split()] for line in sys.stdin]
    try:
        name, frames_at = "torchcodec", torchcodec_decoder(path)
    except (ImportError, RuntimeError):  # it finds no FFmpeg
        name, frames_at = "pyav", pyav_decoder(path)
    # Not timed: the first frame, and what shows that both sides decode the same.
    frames_at([0.0])
    brightness = frames_at(requests[0][:1]).double().mean().item()
    begin = time.process_time()
    for request in requests:
        frames_at(request)
    return {"cpu_s": time.process_time() - begin, "frames": sum(map(len, requests)), "brightness": brightness,
            "decoder": name}


if __name__ == "__main__":
    what, path = sys.argv[1:]
    print(json.dumps({"open": open_dataset, "decode": decode}[what](path)))
