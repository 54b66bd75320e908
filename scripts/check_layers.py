"""Checks the include rules of docs/architecture.md over the sources: check_layers.py [PROJECT_ROOT].

Each room may include its own headers and those of the rooms named here; torch, Arrow, FFmpeg, libpng, libcurl, fmt and spdlog only where
named. Prints every offending line; exit status 1 when there is one.
"""

import pathlib
import re
import sys

# room -> (rooms it may include, libraries beyond the standard library, Boost and POSIX)
RULES = {
    "plugin-api/include": (set(), set()),
    "plugin-api/sdk/torch": ({"plugin-api/include", "plugin-api/sdk"}, {"torch"}),
    "plugin-api/sdk": ({"plugin-api/include"}, set()),
    "plugin-api/template": ({"plugin-api/include", "plugin-api/sdk", "plugin-api/sdk/torch"}, {"torch"}),
    **{"plugins/" + p: ({"plugin-api/include", "plugin-api/sdk", "plugin-api/sdk/torch"}, {"torch"}) for p in "cpu cuda rocm xpu mps".split()},
    "host/base": (set(), {"fmt"}),
    "host/runs": ({"host/base"}, set()),
    "host/config": ({"host/base", "host/runs"}, set()),
    "host/accel": ({"host/base", "plugin-api/include"}, set()),
    "host/checker": ({"plugin-api/include"}, {"torch"}),
    "host/check": ({"host/base", "host/accel", "host/checker", "plugin-api/include"}, set()),  # tensors.h
    "host/report": ({"host/base"}, set()),
    "host/hub": ({"host/base", "host/accel", "host/report"}, {"curl"}),  # library.h, search.h, progress_bar.h
    "host/data": ({"host/base"}, {"arrow", "ffmpeg", "png"}),
    "host/kernels": ({"host/base"}, set()),  # clones.h
    "host/fused": ({"host/kernels"}, {"torch"}),
    "host/policy": ({"host/base", "host/config", "host/fused", "host/kernels"}, {"torch"}),
    "host/optim": ({"host/base", "host/config", "host/fused", "host/kernels", "host/policy", "host/checkpoint"}, {"torch"}),  # parameter_group.h, shape_text.h, ema_state.h
    "host/precision": ({"host/base", "host/config", "host/accel", "plugin-api/include"}, {"torch"}),
    "host/checkpoint": ({"host/base", "host/runs"}, {"torch"}),
    "host/train": ({"host/" + r for r in "base runs config accel hub report data fused policy optim precision checkpoint app".split()}, {"torch"}),
    "host/app": ({"host/base", "host/config", "host/accel", "host/hub", "host/check", "host/data", "host/report"}, set()),
}
RULES["plugins/rocm"][0].add("plugins/cuda")  # torch calls the devices of both "cuda": gpu_backend.h
LIBRARIES = {
    "torch": re.compile(r"^(torch|ATen|c10)/"),
    "arrow": re.compile(r"^(arrow|parquet)/"),
    "ffmpeg": re.compile(r"^lib(av|sw)\w+/"),
    "curl": re.compile(r"^curl/"),
    "png": re.compile(r"^png\.h$"),
    "fmt": re.compile(r"^(fmt|spdlog)/"),
}
PLUGIN_HEADERS = {"lerobot_accel.h": "plugin-api/include"}
SOURCES = {".h", ".hpp", ".c", ".cpp"}


def room_of(path):
    matches = [room for room in RULES if path == room or path.startswith(room + "/")]
    return max(matches, key=len) if matches else None


def included_room(root, file, include):
    if include in PLUGIN_HEADERS:
        return PLUGIN_HEADERS[include]
    if (root / include).is_file():
        return room_of(include)
    for folder in (file.parent, root / "plugin-api", root / "plugin-api/include"):
        if (folder / include).is_file():
            return room_of(str((folder / include).resolve().relative_to(root)))
    return None


def offences(root):
    for file in sorted(p for top in ("host", "plugin-api", "plugins") for p in (root / top).rglob("*") if p.suffix in SOURCES):
        name = str(file.relative_to(root))
        room = room_of(name)
        if room is None:
            yield f"{name}: belongs to no room of scripts/check_layers.py"
            continue
        rooms, libraries = RULES[room]
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*[<"]([^">]+)[">]', line)
            if not match:
                continue
            include = match.group(1)
            other = included_room(root, file, include)
            if other and other != room and other not in rooms:
                yield f"{name}:{number}: {room} may not use {other}: {line.strip()}"
            for library, pattern in LIBRARIES.items():
                if pattern.match(include) and library not in libraries:
                    yield f"{name}:{number}: {room} may not use {library}: {line.strip()}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = list(offences(root))
    print("\n".join(found) if found else "layers: in order")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
