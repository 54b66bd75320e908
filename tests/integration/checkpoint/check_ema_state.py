"""check_ema_state.py SAVER GOLDEN: saves a checkpoint with SAVER and looks at its ema_state.pt with Python's standard
library alone: an intact zip archive of the form that torch.load wants, whose pickle holds nothing but what
torch.load(weights_only=True) accepts. GOLDEN, written by torch, must pass as well.

The opcodes and globals are those of torch/_weights_only_unpickler.py of torch 2.11 (Unpickler.load, _get_allowed_globals).
"""

import io
import pickle
import pickletools
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

OPCODES = set(
    """APPEND APPENDS BINFLOAT BINGET BININT BININT1 BININT2 BINPERSID BINPUT BINUNICODE BUILD EMPTY_DICT EMPTY_LIST
    EMPTY_SET EMPTY_TUPLE GLOBAL LONG1 LONG_BINGET LONG_BINPUT MARK NEWFALSE NEWOBJ NEWTRUE NONE PROTO REDUCE SETITEM
    SETITEMS SHORT_BINSTRING STOP TUPLE TUPLE1 TUPLE2 TUPLE3""".split()
)
# Of the globals, those that tensors and storages need.
GLOBALS = {"collections OrderedDict", "torch._utils _rebuild_tensor_v2"} | {
    f"torch {kind}Storage" for kind in "Float Double Half BFloat16 Long Int Short Char Byte Bool".split()
}
RECORDS = {"data.pkl", "byteorder", "version"}  # torch's reader asks for these


def unaccepted(pickled):
    """What a pickle holds beyond that."""
    found = []
    for opcode, argument, _ in pickletools.genops(pickled):
        if opcode.name not in OPCODES:
            found.append(opcode.name)
        if opcode.name == "GLOBAL" and argument not in GLOBALS:
            found.append(argument)
        if opcode.name == "PROTO" and argument != 2:
            found.append(f"protocol {argument}")
    return found


def check(file):
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None, f"{file}: the checksum of {archive.testzip()} is wrong"
        top = {name.split("/")[0] for name in archive.namelist()}
        assert len(top) == 1, f"{file}: more than one folder: {sorted(top)}"
        records = {name.split("/", 1)[1]: info for name, info in zip(archive.namelist(), archive.infolist())}
        assert RECORDS <= records.keys(), f"{file}: lacks {sorted(RECORDS - records.keys())}"
        assert all(info.compress_type == zipfile.ZIP_STORED for info in records.values()), f"{file}: is compressed"
        pickled = archive.read(f"{top.pop()}/data.pkl")
    assert not unaccepted(pickled), f"{file}: torch's reader would refuse {unaccepted(pickled)}"
    # Every tensor's storage is there, with as many bytes as it should have (float32).
    sizes = [records[f"data/{key}"].file_size for key in range(sum(name.startswith("data/") for name in records))]
    storages = []

    class Reader(pickle.Unpickler):
        def persistent_load(self, identity):
            storages.append(identity)
            return identity

        def find_class(self, module, name):
            return dict if module == "collections" else (module, name) if name.endswith("Storage") else lambda *view: view

    state = Reader(io.BytesIO(pickled)).load()
    assert sizes == [4 * elements for _, _, _, _, elements in storages], f"{file}: {sizes} bytes of {storages}"
    assert [key for _, _, key, _, _ in storages] == [str(i) for i in range(len(storages))], f"{file}: {storages}"
    return state


def main():
    saver, golden = sys.argv[1:]
    assert unaccepted(pickle.dumps({"a": {1}}, protocol=4)), "the check accepts anything"
    assert unaccepted(pickle.dumps(Path("x"), protocol=2)), "the check accepts any global"
    expected = check(golden)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([saver, folder], check=True)
        state = check(f"{folder}/checkpoints/000001/training_state/ema_state.pt")
    assert list(state) == list(expected), f"keys: {list(state)}, not {list(expected)}"
    assert [type(value) for value in state.values()] == [type(value) for value in expected.values()], state
    assert state["optimization_step"] == 1 and state["use_ema_warmup"] is True, state
    print(f"ema_state.pt: {len(state['shadow_params'])} tensor in order")


if __name__ == "__main__":
    main()
