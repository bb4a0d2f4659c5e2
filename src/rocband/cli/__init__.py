"""The command ``rocband``: thin layers that read tables, call the library and print.

Modules here import scikit-learn and pandas inside functions, so that ``rocband --help`` answers at once.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        from rocband.cli.app import cli, drop_output  # noqa: PLC0415
    except ModuleNotFoundError as error:
        sys.exit(f"The command line needs the package {error.name}; install it with: pip install 'rocband[cli]'")
    try:
        cli(prog_name="rocband")
    except OSError as error:  # standard output takes no more
        drop_output()
        sys.exit(f"Error: The output could not be written: {error.strerror}.")
    except KeyboardInterrupt:
        sys.exit("Error: Interrupted; nothing was written.")
