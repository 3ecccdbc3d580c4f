"""fovea's side of a comparison: models are generated and built as they ship, and each is served by
a process of its own that runs it when told to (server/serve.cpp)."""
import filecmp
import json
import pathlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field

import torch

FOLDER = pathlib.Path(__file__).resolve().parent
RUNTIME_MODEL = "product_16x40"  # its build has the runtime that all servers link
# What servers use of the runtime and no generated folder has a copy of.
RUNTIME = FOLDER.parents[1] / "runtime"
SERVER_PARTS = [file for folder in ("translator", "text", "trainer", "decoding")
                for file in RUNTIME.glob(f"{folder}/**/*")]
DTYPES = {torch.float32: "F32", torch.int32: "I32"}


@dataclass(frozen=True)
class Source:
    """What `fovea generate` is asked for: FILE:FUNCTION or a built-in model, and settings."""
    model: str
    settings: dict = field(default_factory=dict)
    training: bool = False

    @staticmethod
    def of_file(file, function, **rest):
        return Source(f"{FOLDER / 'models' / file}:{function}", **rest)

    @property
    def name(self):
        return self.model.rsplit(":", 1)[-1]


def save_safetensors(path, tensors):
    """Writes {name: float32 or int32 tensor}."""
    header, offset, parts = {}, 0, []
    for name, tensor in tensors.items():
        data = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
        parts.append(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(parts))


def run_quietly(command):
    """Runs a command; its output is shown only when it fails."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    except FileNotFoundError:
        raise SystemExit(f"there is no program {command[0]}; --fovea FILE names the built command")
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def copy_changed(source, target):
    """Makes target equal to source; files that are equal keep their times."""
    for old in [p for p in target.rglob("*") if p.is_file()]:
        if not (source / old.relative_to(target)).exists():
            old.unlink()
    for new in [p for p in source.rglob("*") if p.is_file()]:
        place = target / new.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists() or not filecmp.cmp(new, place, shallow=False):
            shutil.copyfile(new, place)


class Builder:
    """Builds servers below a folder, which may be kept: what did not change is not built again."""

    def __init__(self, fovea, work, threads):
        self.fovea, self.work, self.threads = fovea, pathlib.Path(work).resolve(), threads
        self.generate("runtime", Source.of_file("contraction.cpp", RUNTIME_MODEL))
        self.compile("runtime", [])
        built = self.work / "runtime" / "build" / RUNTIME_MODEL
        self.runtime = sorted(built.glob("libfovea_*.a"))

    def generate(self, group, source):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / source.name
            settings = [f"--set={key}={value}" for key, value in source.settings.items()]
            training = ["--training"] if source.training else []
            run_quietly([self.fovea, "generate", source.model, "-o", folder, "--isa", "native",
                         *training, *settings])
            for file in SERVER_PARTS:
                place = folder / "fovea" / file.relative_to(RUNTIME)
                if file.is_file() and not place.exists():
                    place.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, place)
            copy_changed(folder, self.work / group / "models" / source.name)

    def compile(self, group, runtime):
        build = self.work / group / "build"
        run_quietly(["cmake", "--fresh", "-S", FOLDER / "server", "-B", build,
                     f"-DRUNTIME={';'.join(map(str, runtime))}",
                     f"-DMODELS={self.work / group / 'models'}", "-DCMAKE_BUILD_TYPE=Release"])
        run_quietly(["cmake", "--build", build, "-j", "2"])

    def build(self, group, sources):
        """Builds the sources as a group, whose names differ; {name: program file}."""
        for source in sources:
            self.generate(group, source)
        self.compile(group, self.runtime)
        return {s.name: self.work / group / "build" / f"serve_{s.name}" for s in sources}

    def serve(self, program):
        return Server(program, self.threads)


class Server:
    """A running model."""

    def __init__(self, program, threads):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([program, str(threads)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)

    @property
    def pid(self):
        return self.process.pid

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with status {self.process.wait()}")
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply

    def open(self, program, inputs):
        """Binds a program to the inputs' sizes; what it says about itself."""
        path = pathlib.Path(self.folder.name) / "inputs.safetensors"
        save_safetensors(path, inputs)
        return self.ask("open", program, path)

    def file(self, command):
        """The tensors that `output` (after a run) or `save` (the parameters) writes."""
        from d2l_transformer import load_safetensors
        path = pathlib.Path(self.folder.name) / "outputs.safetensors"
        self.ask(command, path)
        return load_safetensors(path)

    def milliseconds(self, runs, *command):
        """Times of runs; the command is `go` unless given."""
        return self.ask(*(command or ("go",)), runs)["ms"]

    def side(self, *command):
        return lambda runs: self.milliseconds(runs, *command)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
