"""The command ``rocband``: thin layers that read tables, call the library and print.

A command is a plan: it runs itself and prints itself as Python, from the same values. Modules here import scikit-learn
and pandas inside functions, so that ``rocband --help`` answers at once.
"""

import os
import signal
import sys
from types import FrameType

from rocband._files import discard_unfinished

__all__ = ["main"]

_INTERRUPTED = "Error: Interrupted; nothing was written."
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
# A spinner hides the cursor and leaves its line half written.
_SHOW_CURSOR = b"\r\x1b[K\x1b[?25h"


def main() -> None:
    """Run the command line."""
    for name in _SIGNALS:
        _heed(name)
    try:
        from rocband.cli.app import cli, drop_output  # noqa: PLC0415
    except ModuleNotFoundError as error:
        sys.exit(f"The command line needs the package {error.name}; install it with: pip install 'rocband[cli]'")
    try:
        cli(prog_name="rocband")
    except OSError as error:  # standard output takes no more
        drop_output()
        sys.exit(f"Error: The output could not be written: {error.strerror}.")


def _heed(name: str) -> None:
    number = getattr(signal, name, None)
    # A job in the background, or under nohup, is told to ignore some.
    if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    """Clean up, say so and end the process.

    An exception would not do: raised inside a callback of compiled code or a finalizer, Python drops it and goes on.
    """
    discard_unfinished()
    if os.isatty(2):
        os.write(2, _SHOW_CURSOR)
    os.write(2, f"{_INTERRUPTED}\n".encode())
    os._exit(1)
