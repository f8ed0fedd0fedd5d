"""Drover's tap for AI workers: tap_pb2 and tap_pb2_grpc are made of tap.proto, and shared
reads frames in shared memory."""
