"""The statistics that LeRobot's converter from v2.1 writes for datasets/pusht_sim_v21 (LeRobot 0.6.2).

Run from tests/data in an environment that has LeRobot:  python goldens/make_v21_stats.py
"""

import json
import pathlib
import shutil
import tempfile

from lerobot.datasets import aggregate_stats
from lerobot.datasets.io_utils import cast_stats_to_numpy, write_stats

lines = pathlib.Path("datasets/pusht_sim_v21/meta/episodes_stats.jsonl").read_text().splitlines()
with tempfile.TemporaryDirectory() as folder:
    write_stats(aggregate_stats([cast_stats_to_numpy(json.loads(line)["stats"]) for line in lines]), pathlib.Path(folder))
    shutil.copyfile(pathlib.Path(folder) / "meta/stats.json", "goldens/datasets/pusht_sim_v21.stats.json")
