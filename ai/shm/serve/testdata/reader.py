"""Reads as it is told: for each line of its input so many frames, each of which it
prints as a line of JSON, or what it ends with."""

import hashlib
import json
import sys

from drover_tap import shared

path, camera = sys.argv[1:]
try:
    with shared.Connection(path, cameras=[camera], max_behind_s=60, worker="python") as connection:
        for line in sys.stdin:
            for _ in range(int(line)):
                item = connection.next(timeout_s=20)
                if isinstance(item, shared.Status):
                    print(json.dumps({"camera": item.camera, "state": item.state}), flush=True)
                    continue
                print(json.dumps({
                    "camera": item.camera, "codec": item.config.codec, "width": item.config.width,
                    "sps": item.config.sps.hex(), "sequence": item.sequence, "keyframe": item.keyframe,
                    "missed": item.missed, "pts": item.pts, "sum": hashlib.sha256(item.data).hexdigest(),
                }), flush=True)
except shared.Refused as refused:
    print(json.dumps({"code": refused.code, "error": str(refused)}), flush=True)
except ConnectionError as error:
    print(json.dumps({"code": "gone", "error": str(error)}), flush=True)
