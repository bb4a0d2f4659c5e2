"""``predict``: scores and labels for a table of any length; ``export``: the model as an ONNX graph."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from rocband._files import open_whole
from rocband.cli.code import Script, column_code, quoted
from rocband.cli.columns import column
from rocband.cli.failures import Failure
from rocband.cli.options import output_options, reading_options, source_of
from rocband.cli.outputs import check_output, check_scores
from rocband.cli.scoring import CHUNK_ROWS, Scorer, features_code, typed, warn_of_strangers
from rocband.cli.show import Output
from rocband.cli.source import Source

__all__ = ["export", "predict"]

_OUTPUT = "CSV or .parquet; an existing file is replaced.  [default: standard output]"


@click.command(short_help="Scores and labels for a table of any length.")
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", default="-", metavar="FILE", help=_OUTPUT)
@click.option("--keep", multiple=True, metavar="COLUMN", help="Column to copy beside the scores; may be repeated.")
@click.option("--chunk-rows", type=click.IntRange(1), default=CHUNK_ROWS, show_default=True, help="Rows at a time.")
@reading_options
@output_options
def predict(
    model: str,
    data: str,
    output: str,
    keep: tuple[str, ...],
    chunk_rows: int,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Score the rows of DATA with the model in the file MODEL.

    DATA is a file, or - for standard input. It is read and written in chunks, so that it may be larger than memory.
    The output has the columns score and label; a row is called positive where its score is above 0.

    \b
    Examples:
      rocband predict model.rocband new.csv -o scores.csv --keep id
      cat huge.csv | rocband predict model.rocband - > scores.csv
    """
    out = Output(as_json, quiet)
    if as_json and output == "-":
        raise click.UsageError("--json prints where the scores would go; name a file with -o.")
    if output != "-":
        check_output(output, "the output", (data, model))
        check_scores(output)
    source, scorer = source_of(data, options), Scorer.load(model)
    count, positives = 0, 0
    with _writer(output) as write:
        for frame in _predicted(source, scorer, keep, chunk_rows):
            write(frame)
            count, positives = count + len(frame), positives + int((frame["score"] > 0).sum())
    warn_of_strangers([scorer])
    summary = f"{count:,} rows scored, {positives:,} called positive."
    if output != "-":
        out.say(f"{summary} Written: {output}")
    elif not quiet:
        click.echo(summary, err=True)
    out.add(rows=count, positives=positives, output=output)
    out.end(_python(source, scorer, output, keep), err=output == "-")


def _predicted(source: Source, scorer: Scorer, keep: tuple[str, ...], rows: int) -> Iterator[Any]:
    import numpy as np  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    notes, names = scorer.about["notes"], np.array(_label_names(scorer), dtype=object)
    for chunk in typed(source, [scorer], ()).chunks(rows):
        kept = {name: column(chunk.frame, name, source.name) for name in keep}
        scores = scorer.scores(chunk, source, (*keep, source.default_target, notes.get("target"), "qid", "groups"))
        labels = names[(scores > 0).astype(int)]
        yield pd.DataFrame({**kept, "score": scores, "label": labels}, index=chunk.frame.index)


def _label_names(scorer: Scorer) -> tuple[str, str]:
    low, high = (str(label) for label in scorer.model.classes_)
    notes = scorer.about["notes"]
    return notes.get("negative", low), notes.get("positive", high)


@contextlib.contextmanager
def _writer(output: str) -> Iterator[Callable[[Any], None]]:
    """Give a function that appends a data frame to the output."""
    if output == "-":
        yield _csv_appender(sys.stdout.buffer)
        return
    path = Path(output)
    with open_whole(path, "the output") as file:
        if path.suffix.lower() not in (".parquet", ".pq"):
            yield _csv_appender(file)
            return
        with _parquet_appender(file) as append:
            yield append


def _csv_appender(file: BinaryIO) -> Callable[[Any], None]:
    first = True

    def append(frame: Any) -> None:
        nonlocal first
        file.write(frame.to_csv(index=False, header=first, lineterminator="\n").encode())
        first = False

    return append


@contextlib.contextmanager
def _parquet_appender(file: BinaryIO) -> Iterator[Callable[[Any], None]]:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    with contextlib.ExitStack() as stack:
        writer: Any = None

        def append(frame: Any) -> None:
            nonlocal writer
            schema = None if writer is None else writer.schema
            table = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
            if writer is None:
                writer = stack.enter_context(pq.ParquetWriter(file, table.schema))
            writer.write_table(table)

        yield append


def _python(source: Source, scorer: Scorer, output: str, keep: tuple[str, ...]) -> str:
    script = Script()
    for module in ("numpy as np", "pandas as pd"):
        script.use(module)
    script.use("rocband", "persist")
    script.add(f"model = persist.load({quoted(scorer.path)})")
    script.read(typed(source, [scorer], ()), keep if source.found.sparse else set(keep) - set(scorer.met.columns))
    script.add(f"scores = model.decision_function({features_code(script, source, scorer, 'model')})")
    negative, positive = (quoted(name) for name in _label_names(scorer))
    script.add(f"labels = np.where(scores > 0, {positive}, {negative})")
    kept = [f"{quoted(name)}: {column_code(source, name)}" for name in keep] if source.format == "svmlight" else []
    if keep and not kept:
        script.add(f"result = table[{script.expression(list(keep))}].assign(score=scores, label=labels)")
    else:
        entries = [*kept, '"score": scores', '"label": labels']
        script.add(f"result = pd.DataFrame({script.call('', entries, brackets=('{', '}'))})")
    kind = "to_parquet" if output.lower().endswith((".parquet", ".pq")) else "to_csv"
    if output == "-":
        script.use("sys")
    script.add(f"result.{kind}({'sys.stdout' if output == '-' else quoted(output)}, index=False)")
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
    from rocband import persist  # noqa: PLC0415

    check_output(output, "the ONNX graph", [model])
    scorer = Scorer.load(model)
    if scorer.categories:
        names = ", ".join(repr(name) for name in scorer.categories)
        raise Failure(f"{model} encodes the text of {names}; only models of numbers can be exported to ONNX.")
    path = persist.to_onnx(scorer.model, output)
    out = Output(as_json, quiet)
    out.say(f"Written: {path}")
    out.add(output=str(path), features=scorer.features, n_features=scorer.model.n_features_in_)
    out.end(f"from rocband import persist\n\npersist.to_onnx(persist.load({quoted(model)}), {quoted(output)})")
