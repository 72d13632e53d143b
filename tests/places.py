"""Where tests find the project's own files."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORKFLOW = ROOT / "workflow"
SHARED = ROOT.parent / "shared"
"""Data sets too large for the project; tests that need it skip where it is absent."""
