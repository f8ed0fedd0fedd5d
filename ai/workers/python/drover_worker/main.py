"""The command line."""

import argparse
import importlib
import logging
import os
import signal
import sys
from pathlib import Path

try:
    import drover_tap  # noqa: F401  installed beside this, or in the tree below ai/python
except ImportError:
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))

from drover_worker import logs


def parser():
    p = argparse.ArgumentParser(prog="drover-worker", description="Looks at cameras of Drover, and reports what it sees.")
    p.add_argument("--server", default="127.0.0.1:9090", metavar="HOST:PORT", help="grpc.address of the server (default %(default)s)")
    p.add_argument("--camera", action="append", metavar="ID", help="which camera; may be given several times (default: all)")
    p.add_argument("--source", default="", metavar="NAME", help='which stream of each: "sub" costs less to decode (default: the first)')
    p.add_argument("--fps", type=float, default=2.0, metavar="N", help="at most so many pictures a second and camera are looked at; 0: as many as can be (default %(default)s)")
    p.add_argument("--keyframes", action="store_true", help="decode keyframes alone: a picture every few seconds, for almost nothing")
    p.add_argument("--detector", default="hog", metavar="WHAT", help="hog: people, by what OpenCV has; a FILE.onnx; or MODULE:FUNCTION of your own, which returns an object with detect(picture) (default %(default)s)")
    p.add_argument("--labels", default="", metavar="LIST", help="of the ONNX model's classes: a file with one a line, or with commas in between")
    p.add_argument("--size", default="640x640", metavar="WxH", help="of the ONNX model's input, where it does not say so itself (default %(default)s)")
    p.add_argument("--layout", default="auto", choices=["auto", "v5", "v8", "final"], help="of the ONNX model's output")
    p.add_argument("--runtime", default="auto", choices=["auto", "onnxruntime", "opencv"], help="what runs the ONNX model")
    p.add_argument("--threshold", type=float, default=0.4, metavar="SCORE", help="what is less sure is left out (default %(default)s)")
    p.add_argument("--no-tracking", action="store_true", help="give no numbers to things that are seen again")
    p.add_argument("--name", default="", metavar="NAME", help="what the worker is called in the server's log and counters (default: by the detector)")
    p.add_argument("--ca", metavar="FILE", help="PEM file of the authority, where the server has gRPC over TLS")
    p.add_argument("--log", default="info", choices=["debug", "info", "warning", "error"])
    return p


def labels_of(text):
    if os.path.isfile(text):
        text = Path(text).read_text().replace("\n", ",")
    return [label.strip() for label in text.split(",") if label.strip()]


def detector_of(args):
    if args.detector == "hog":
        from drover_worker.hog import Hog

        return Hog(args.threshold), "hog"
    if args.detector.endswith(".onnx"):
        from drover_worker.onnx import Onnx

        width, _, height = args.size.partition("x")
        return Onnx(args.detector, labels_of(args.labels), args.threshold, (int(width), int(height)), args.layout, args.runtime), "onnx"
    module, _, function = args.detector.partition(":")
    if not function:
        raise ValueError("--detector must be hog, a file that ends in .onnx, or MODULE:FUNCTION")
    sys.path.insert(0, os.getcwd())
    return getattr(importlib.import_module(module), function)(), "custom"


def main(argv=None):
    args = parser().parse_args(argv)
    logs.set_up(args.log)
    import cv2
    import grpc

    from drover_tap import tap_pb2 as tap
    from drover_worker.tap import Tap
    from drover_worker.work import Worker

    cv2.setNumThreads(1)  # A worker is one of many; who has cores to spare starts another.
    try:
        detector, name = detector_of(args)
    except Exception as err:
        logging.error("the detector %s cannot be had: %s", args.detector, err)
        return 2
    name = args.name or name
    request = tap.WatchRequest(
        cameras=args.camera or ["*"], source=args.source, worker=name, format=tap.FORMAT_ANNEX_B,
        selection=tap.SELECTION_KEYFRAMES if args.keyframes else tap.SELECTION_ALL,
    )
    credentials = grpc.ssl_channel_credentials(Path(args.ca).read_bytes()) if args.ca else None
    token = os.environ.get("DROVER_TOKEN")
    server = Tap(args.server, credentials, [("authorization", "Bearer " + token)] if token else [])
    worker = Worker(server, request, detector, args.fps, not args.no_tracking, name)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: worker.stop())
    logging.info("looking at %s of %s with %s", ", ".join(args.camera or ["all cameras"]), args.server, args.detector)
    try:
        worker.run()
    except grpc.RpcError as err:
        logging.error("the server refuses: %s: %s", err.code().name, err.details())
        return 1
    except Exception as err:
        logging.error("the detector does not work: %s", err)
        return 1
    finally:
        server.close()
    logging.info("stopped")
    return 0
