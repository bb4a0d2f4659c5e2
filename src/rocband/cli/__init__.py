"""The command ``rocband``: thin layers that read tables, call the library and print.

A command is a plan: it runs itself and prints itself as Python, from the same values. Modules here import scikit-learn
and pandas inside functions, so that ``rocband --help`` answers at once.
"""

import os
import signal
import sys
import threading
from types import FrameType

from rocband._files import discard_unfinished

__all__ = ["main"]

_INTERRUPTED = "Error: Interrupted; nothing was written."
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
# A spinner hides the cursor and leaves its line half written.
_SHOW_CURSOR = b"\r\x1b[K\x1b[?25h"


def main() -> None:
    """Run the command line."""
    _heed_signals()
    try:
        from rocband.cli.app import cli, drop_output  # noqa: PLC0415
    except ModuleNotFoundError as error:
        sys.exit(f"The command line needs the package {error.name}; install it with: pip install 'rocband[cli]'")
    try:
        cli(prog_name="rocband")
    except OSError as error:  # standard output takes no more
        drop_output()
        sys.exit(f"Error: The output could not be written: {error.strerror}.")


def _heed_signals() -> None:
    """Let a thread end the process when it is asked to.

    An exception would not do: raised inside a callback of compiled code or in a finalizer, Python drops it and goes on,
    and while compiled code runs or waits for input, Python raises none. The signal itself is written into a pipe at
    once.
    """
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end)
    for name in _SIGNALS:
        number = getattr(signal, name, None)
        # A job in the background, or under nohup, is told to ignore some.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave_to_thread)
    threading.Thread(target=_end_on_signal, args=(read_end,), daemon=True).start()


def _leave_to_thread(number: int, frame: FrameType | None) -> None:
    """Do nothing: signals without a handler are not written into the pipe."""


def _end_on_signal(pipe: int) -> None:
    """Wait for a signal, clean up, say so and end the process."""
    os.read(pipe, 1)
    discard_unfinished()
    if os.isatty(2):
        os.write(2, _SHOW_CURSOR)
    os.write(2, f"{_INTERRUPTED}\n".encode())
    os._exit(1)
