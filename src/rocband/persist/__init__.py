"""Model files that are safe to load, and ONNX for serving a model elsewhere.

A model file is data and nothing else: a line that names the format, a SHA-256 of the rest, a JSON manifest, and the
bytes of the arrays one after the other. Loading parses the JSON, views the bytes as arrays of numbers or text, and puts
them into objects of the few classes of `rocband.persist.encoding.CLASSES`. No name from the file is ever imported or
called, nothing is decompressed, no path from the file is opened.

Pickle, and joblib on top of it, runs whatever the file says. skops is safe but asks the reader which types to trust,
compresses, and follows private types of scikit-learn; the models here are a few arrays, for which a page of code that
can be read in one go is the better guard. Pipelines with other steps than those of ``CLASSES`` are for skops.
"""

from rocband.persist.container import ModelFileError
from rocband.persist.files import describe, load, save
from rocband.persist.onnx import to_onnx

__all__ = ["ModelFileError", "describe", "load", "save", "to_onnx"]
