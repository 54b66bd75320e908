"""A larger dataset from a small one: its episodes again and again. Runs in the peer's Python, which has pyarrow.

scaled_dataset.py SOURCE TARGET FRAMES      all copies of an episode share its video
"""

import json
import pathlib
import shutil
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

DATA = "data/chunk-000/file-000.parquet"
EPISODES = "meta/episodes/chunk-000/file-000.parquet"


def main(source, target, frames):
    shutil.copytree(source / "meta", target / "meta", ignore=shutil.ignore_patterns("episodes"))
    if (source / "videos").exists():
        (target / "videos").symlink_to((source / "videos").resolve())
    rows, episodes = pq.read_table(source / DATA), pq.read_table(source / EPISODES)
    lengths = planned_lengths(episodes["length"].to_pylist(), frames)
    write_data(rows, episodes, lengths, target / DATA)
    write_episodes(episodes, lengths, target / EPISODES)
    info = json.loads((source / "meta/info.json").read_text())
    info.update(total_frames=frames, total_episodes=len(lengths), splits={"train": f"0:{len(lengths)}"})
    (target / "meta/info.json").write_text(json.dumps(info, indent=4))


def planned_lengths(lengths, frames):
    """Of the new episodes: the old ones' in turn, the last one cut."""
    planned = []
    while frames > 0:
        planned.append(min(lengths[len(planned) % len(lengths)], frames))
        frames -= planned[-1]
    return planned


def replaced(table, name, values):
    at = table.schema.get_field_index(name)
    return table.set_column(at, table.schema.field(at), pa.array(values, table.schema.field(at).type))


def write_data(rows, episodes, lengths, path):
    """One row group an episode, as LeRobot records them."""
    path.parent.mkdir(parents=True)
    starts, begin = episodes["dataset_from_index"].to_pylist(), 0
    with pq.ParquetWriter(path, rows.schema, compression="snappy") as writer:
        for index, length in enumerate(lengths):
            episode = rows.slice(starts[index % len(starts)], length)
            episode = replaced(episode, "episode_index", [index] * length)
            writer.write_table(replaced(episode, "index", range(begin, begin + length)))
            begin += length


def write_episodes(episodes, lengths, path):
    path.parent.mkdir(parents=True)
    ends = [int(end) for end in pc.cumulative_sum(pa.array(lengths)).to_pylist()]
    copies = pa.concat_tables([episodes] * -(-len(lengths) // episodes.num_rows)).slice(0, len(lengths))
    for name, values in (("episode_index", range(len(lengths))), ("length", lengths), ("dataset_to_index", ends),
                         ("dataset_from_index", [end - length for end, length in zip(ends, lengths)])):
        copies = replaced(copies, name, values)
    pq.write_table(copies.combine_chunks(), path)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]))
