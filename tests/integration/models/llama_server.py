"""llama-server, from the prebuilt package xllamacpp.

``python llama_server.py MODEL NAME PORT CONTEXT SLOTS [TEMPLATE]``, in an environment that has xllamacpp; it serves
until it is terminated.
"""

import sys
import threading
from pathlib import Path

import xllamacpp


def serve(arguments: list[str]) -> None:
    model, name, port, context, slots, *template = arguments
    settings = xllamacpp.CommonParams()
    settings.model.path = model
    settings.model_alias = {name}
    settings.hostnames = ["127.0.0.1"]
    settings.port = int(port)
    settings.n_parallel = int(slots)
    settings.n_ctx = int(context) * int(slots)
    settings.n_gpu_layers = 0
    settings.cpuparams.n_threads = 2
    settings.cpuparams_batch.n_threads = 2
    settings.warmup = False
    settings.use_jinja = True
    if template:
        settings.chat_template = Path(template[0]).read_text(encoding="utf-8")
    server = xllamacpp.Server(settings)
    sys.stderr.write(f"{server.listening_address}\n")
    threading.Event().wait()


if __name__ == "__main__":
    serve(sys.argv[1:])
