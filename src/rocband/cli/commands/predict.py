"""``predict``: scores and labels for a table of any length; ``export``: the model as an ONNX graph."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import click

from rocband._files import is_standard_output, open_whole
from rocband._progress import tell
from rocband.cli.columns import check_columns, named_columns
from rocband.cli.dates import write_parts
from rocband.cli.failures import Failure
from rocband.cli.options import output_options, reading_options, table_of
from rocband.cli.outputs import check_output, check_scores, define_guarded, guarded, is_parquet
from rocband.cli.python import Script, literal
from rocband.cli.scoring import CHUNK_ROWS, Scorer, typed, warn_of_strangers
from rocband.cli.show import Output, progress, warn
from rocband.cli.visible import visible

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas import DataFrame as Frame

    from rocband.cli.formats.base import Chunk
    from rocband.cli.table_file import TableFile

__all__ = ["export", "predict"]

_OUTPUT = "CSV or .parquet; an existing file is replaced.  [default: standard output]"
_RAW = "Copy texts that a spreadsheet would run as formulas, such as =A1, without an apostrophe before them."


class Append(Protocol):
    """Writes some more rows."""

    def __call__(self, frame: Frame, /) -> None: ...


@dataclass
class Predicted:
    """What came of scoring a table.

    Attributes
    ----------
    rows, positives : int
        How many rows there were, and how many are called positive.
    guarded : bool
        Whether texts got an apostrophe.
    kept : list of str
        The columns that were copied.
    """

    rows: int = 0
    positives: int = 0
    guarded: bool = False
    kept: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PredictPlan:
    """The rows of a table scored, chunk by chunk.

    Attributes
    ----------
    scorer : Scorer
        The model.
    table : TableFile
        The table.
    output : str
        Where scores go; "-" for standard output.
    keep : tuple of str
        What the options say of columns to copy.
    chunk_rows : int
        Rows at a time.
    raw : bool
        Whether texts are copied that a spreadsheet would run.
    """

    scorer: Scorer
    table: TableFile
    output: str
    keep: tuple[str, ...]
    chunk_rows: int
    raw: bool

    def run(self) -> Predicted:
        """Write the scores."""
        done = Predicted()
        with _writer(self.output) as append:
            for chunk in self._table_for_copies().chunks(self.chunk_rows):
                frame = self._predicted(chunk, done)
                done.rows += len(frame)
                done.positives += int((frame["score"] > 0).sum())
                append(self._safe(frame, done))
                tell(f"{done.rows:,} rows")
        warn_of_strangers([self.scorer])
        return done

    def _table_for_copies(self) -> TableFile:
        """Read columns that are only copied as text, so that they look as they do in the file."""
        used = {*(self.scorer.features or ()), *self.scorer.dates}
        return self.table.with_text(name for name in _possible(self.keep) if name not in used)

    def _predicted(self, chunk: Chunk, done: Predicted) -> Frame:
        import numpy as np  # noqa: PLC0415
        import pandas as pd  # noqa: PLC0415

        table = self.table
        scorer = self.scorer
        done.kept = list(dict.fromkeys(named_columns(self.keep, chunk.frame.columns)))
        check_columns(chunk.frame, done.kept, table.name)
        # A model without names takes all columns but those that are known to be no features.
        leave_out = (*done.kept, table.default_target, scorer.notes.get("target"), "qid", "groups")
        scores = scorer.scores(chunk, table, leave_out)
        labels = np.array(scorer.label_names, dtype=object)[(scores > 0).astype(int)]
        columns = {name: chunk.frame[name] for name in done.kept}
        return pd.DataFrame({**columns, "score": scores, "label": labels}, index=chunk.frame.index)

    def _safe(self, frame: Frame, done: Predicted) -> Frame:
        if self.raw or is_parquet(self.output):
            return frame
        safe, any_changed = guarded(frame)
        done.guarded = done.guarded or any_changed
        return safe

    def python(self, done: Predicted) -> str:
        """Return the same as Python."""
        script = Script()
        script.use("rocband", "persist")
        script.add(f"model = persist.load({literal(self.scorer.path)})")
        table = self._table_for_copies()
        # Features that are copied are numbers to the model, and are read as such.
        only_kept = [name for name in done.kept if name not in self.scorer.met.columns]
        copied = replace(table, text=tuple(name for name in table.text if name not in done.kept or name in only_kept))
        copied.write_python(script, done.kept if table.layout.sparse else only_kept)
        write_parts(script, self.scorer.dates)
        script.add(f"scores = model.decision_function({self.scorer.features_code(script, table, 'model')})")
        negative, positive = (literal(name) for name in self.scorer.label_names)
        script.use("numpy as np")
        script.add(f"labels = np.where(scores > 0, {positive}, {negative})")
        self._write_result(script, done)
        return script.text()

    def _write_result(self, script: Script, done: Predicted) -> None:
        """Add the lines that put the columns together and write them."""
        table = self.table
        if done.kept and table.format != "svmlight":
            script.add(f"result = table[{script.expression(done.kept)}].assign(score=scores, label=labels)")
        else:
            script.use("pandas as pd")
            entries = [f"{literal(name)}: {table.column_code(name)}" for name in done.kept]
            entries += ['"score": scores', '"label": labels']
            script.add(f"result = pd.DataFrame({script.call('', entries, brackets=('{', '}'))})")
        if done.guarded:
            define_guarded(script)
            script.add('texts = result.select_dtypes(exclude=["number", "bool"]).columns')
            script.add("result[texts] = result[texts].apply(guarded)")
            script.add("result.columns = guarded(pd.Series(result.columns))")
        place = literal(self.output)
        if self.output == "-":
            script.use("sys")
            place = "sys.stdout"
        kind = "to_parquet" if is_parquet(self.output) else "to_csv"
        script.add(f"result.{kind}({place}, index=False)")


def _possible(given: Sequence[str]) -> list[str]:
    """Return all names that an option may mean, before the columns are known."""
    return [*given, *named_columns(given, ())]


@click.command(short_help="Scores and labels for a table of any length.")
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", default="-", metavar="FILE", help=_OUTPUT)
@click.option("--keep", multiple=True, metavar="COLUMNS", help="Columns to copy beside the scores, such as id,date.")
@click.option("--raw", is_flag=True, help=_RAW)
@click.option("--chunk-rows", type=click.IntRange(1), default=CHUNK_ROWS, show_default=True, help="Rows at a time.")
@reading_options
@output_options
def predict(
    model: str,
    data: str,
    output: str,
    keep: tuple[str, ...],
    raw: bool,
    chunk_rows: int,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Score the rows of DATA with the model in the file MODEL.

    DATA is a file, or - for standard input. It is read and written in chunks, so that it may be larger than memory.
    The output has the columns score and label; a row is called positive where its score is above 0. Copied texts that
    a spreadsheet would run as a formula get an apostrophe before them.

    \b
    Examples:
      rocband predict model.rocband new.csv -o scores.csv --keep id
      cat huge.csv | rocband predict model.rocband - > scores.csv
    """
    to_stdout = output == "-" or is_standard_output(output)
    if as_json and to_stdout:
        raise click.UsageError("--json prints where the scores would go; name a file with -o.")
    if output != "-":
        check_output(output, "the output", (data, model))
        check_scores(output)
    out = Output(as_json=as_json, quiet=quiet, err=to_stdout)
    scorer = Scorer.load(model)
    plan = PredictPlan(scorer, typed(table_of(data, options), [scorer]), output, keep, chunk_rows, raw)
    with progress("Scoring", quiet=quiet or as_json or not sys.stderr.isatty()):
        done = plan.run()
    if done.guarded:
        warn("texts that a spreadsheet would run got an apostrophe; --raw copies them as they are.")
    summary = f"{done.rows:,} rows scored, {done.positives:,} called positive."
    out.say(summary if output == "-" else f"{summary} Written: {output}")
    out.add(rows=done.rows, positives=done.positives, output=output)
    out.end(plan.python(done))


@contextlib.contextmanager
def _writer(output: str) -> Iterator[Append]:
    """Give a function that appends a data frame to the output."""
    if output == "-":
        yield _csv_appender(_terminal_writer() if sys.stdout.isatty() else sys.stdout.buffer.write)
        return
    with open_whole(Path(output), "the output") as file:
        if not is_parquet(output):
            yield _csv_appender(file.write)
            return
        with _parquet_appender(file) as append:
            yield append


def _terminal_writer() -> Callable[[bytes], object]:
    """Return what writes to a terminal only what it shows as it is."""
    return lambda content: click.echo(visible(content.decode()), nl=False)


def _csv_appender(write: Callable[[bytes], object]) -> Append:
    first = True

    def append(frame: Frame) -> None:
        nonlocal first
        write(frame.to_csv(index=False, header=first, lineterminator="\n").encode())
        first = False

    return append


@contextlib.contextmanager
def _parquet_appender(file: BinaryIO) -> Iterator[Append]:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    with contextlib.ExitStack() as stack:
        writer: pq.ParquetWriter | None = None

        def append(frame: Frame) -> None:
            nonlocal writer
            if writer is None:
                writer = stack.enter_context(pq.ParquetWriter(file, _parquet_schema(frame)))
            writer.write_table(pa.Table.from_pandas(frame, schema=writer.schema, preserve_index=False))

        yield append


def _parquet_schema(frame: Frame) -> pa.Schema:
    """Return the types of all chunks by the first; a column that is empty there may hold text later."""
    import pyarrow as pa  # noqa: PLC0415

    found = pa.Schema.from_pandas(frame, preserve_index=False)
    fields = [pa.field(one.name, pa.string() if pa.types.is_null(one.type) else one.type) for one in found]
    return pa.schema(fields)


@dataclass(frozen=True)
class ExportPlan:
    """A linear model as an ONNX graph.

    Attributes
    ----------
    model : str
        The model file.
    output : str
        The graph.
    """

    model: str
    output: str

    def run(self) -> Scorer:
        """Write the graph, and return the model."""
        from rocband import persist  # noqa: PLC0415

        scorer = Scorer.load(self.model)
        if scorer.categories:
            names = ", ".join(repr(name) for name in scorer.categories)
            raise Failure(f"{self.model} encodes the text of {names}; only models of numbers can be exported to ONNX.")
        persist.to_onnx(scorer.model, self.output)
        return scorer

    def python(self) -> str:
        """Return the same as Python."""
        script = Script()
        script.use("rocband", "persist")
        script.add(f"persist.to_onnx(persist.load({literal(self.model)}), {literal(self.output)})")
        return script.text()


@click.command(short_help="A linear model as an ONNX graph (extra onnx).")
@click.argument("model")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The .onnx file to write; an existing one is replaced."
)
@output_options
def export(model: str, output: str, as_json: bool, quiet: bool) -> None:
    """Write the linear model in the file MODEL as an ONNX graph, to be served without Python.

    The graph takes the features in the order of training as float32 and returns score and label. Needs the extra onnx:
    pip install 'rocband[cli,onnx]'.

    \b
    Example:
      rocband export model.rocband -o model.onnx
    """
    check_output(output, "the ONNX graph", [model])
    out = Output(as_json=as_json, quiet=quiet, err=is_standard_output(output))
    plan = ExportPlan(model, output)
    scorer = plan.run()
    out.say(f"Written: {output}")
    out.add(output=output, features=scorer.features, n_features=scorer.model.n_features_in_)
    out.end(plan.python())
