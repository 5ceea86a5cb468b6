"""A program for the tests of `kind = "command"`: what it does with a question is what the question says."""

import json
import os
import subprocess
import sys
import threading
import time


def say(value):
    sys.stdout.write(value if isinstance(value, str) else json.dumps(value))
    sys.stdout.write("\n")
    sys.stdout.flush()


def raw(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


held = []
for line in sys.stdin:
    asked = json.loads(line)
    name, what = asked["query_id"], asked["query"]
    if what == "hold":  # answered later, in the wrong order
        held.append(asked)
        continue
    if what == "release":
        for one in [asked, *reversed(held)]:
            say({"query_id": one["query_id"], "answer": f"late {one['query_id']}"})
        held = []
        continue
    if what == "exit":
        sys.stderr.write("no such model: xl-7\n")
        sys.stderr.flush()
        os._exit(3)
    if what == "kill":
        os.kill(os.getpid(), 9)
    if what == "close":
        os.close(1)
        time.sleep(60)
    if what == "hang":
        time.sleep(60)
    if what in ("slow", "late"):
        threading.Timer(0.4 if what == "slow" else 2.5, say, [{"query_id": name, "answer": what}]).start()
        continue
    if what == "garbage":
        say("Loading checkpoint shards: 100%")
        continue
    if what == "bytes":
        raw(b'{"query_id": "' + name.encode() + b'", "answer": "caf\xe9"}\n')
        continue
    if what == "cut":
        say('{"query_id": "' + name + '", "answer": "a b')
        continue
    if what == "deep":
        say("[" * 100_000)
        continue
    if what == "large":
        raw(b'{"query_id": "' + name.encode() + b'", "answer": "' + b"x" * 3_000_000)
        time.sleep(60)
    if what == "nameless":
        say({"answer": "x"})
        continue
    if what == "stranger":
        say({"query_id": "nobody", "answer": "x"})
        continue
    if what == "noise":
        sys.stderr.write("x" * 1_000_000 + "the end\n")
        sys.stderr.flush()
        say({"query_id": name, "answer": 7})
        continue
    if what == "child":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        say({"query_id": name, "answer": str(child.pid)})
        continue
    if what == "last":
        sys.stdout.write(json.dumps({"query_id": name, "answer": "no line end"}))
        sys.exit(0)
    say({"query_id": name, "answer": what, "env": dict(os.environ), "request": asked, "pid": os.getpid()})
