"""Logs to standard error. Below systemd, which stamps each line itself, a line begins
with its level as the journal wants it, and has no time."""

import logging
import os
import sys

_JOURNAL = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3, logging.CRITICAL: 2}


class _Journal(logging.Formatter):
    def format(self, record):
        text = super().format(record).replace("\n", " | ")
        return f"<{_JOURNAL.get(record.levelno, 6)}>{text}"


def set_up(level):
    handler = logging.StreamHandler(sys.stderr)
    if os.environ.get("JOURNAL_STREAM") or os.environ.get("INVOCATION_ID"):
        handler.setFormatter(_Journal("%(message)s"))
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
