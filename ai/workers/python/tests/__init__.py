import sys
from pathlib import Path

# The tests run from the tree.
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
