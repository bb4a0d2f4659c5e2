"""The commands, in the order in which ``--help`` shows them."""

from rocband.cli.commands.fit import fit
from rocband.cli.commands.measure import compare, evaluate, report
from rocband.cli.commands.other import completion, demo
from rocband.cli.commands.predict import export, predict

COMMANDS = (demo, fit, predict, evaluate, compare, report, export, completion)

__all__ = ["COMMANDS"]
