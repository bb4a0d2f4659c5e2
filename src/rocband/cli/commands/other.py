"""Commands that hand over to other parts: ``demo`` and ``completion``."""

from __future__ import annotations

import click

from rocband.cli.python import Script
from rocband.cli.show import Output

__all__ = ["completion", "demo"]


@click.command(short_help="Five models side by side, on letters of the package.")
@click.option("--quiet", "-q", is_flag=True, help="Do not print the equivalent Python.")
def demo(quiet: bool) -> None:
    """Compare five models in a band, on letters that come with the package.

    Takes some seconds, prints a table and draws rocband-demo.png into the current folder.

    \b
    Example:
      rocband demo
    """
    from rocband import demo as letters  # noqa: PLC0415

    letters.main()
    if not quiet:
        script = Script()
        script.use("rocband", "demo")
        script.add("demo.main()")
        out = Output(as_json=False, quiet=False)
        out.end(script.text())


@click.command(short_help="The script for your shell: bash, zsh or fish.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands and options in a shell.

    \b
    Examples:
      rocband completion bash >> ~/.bashrc
      rocband completion zsh >> ~/.zshrc
      rocband completion fish > ~/.config/fish/completions/rocband.fish
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415

    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"There is no completion for {shell}.")
    click.echo(kind(ctx.find_root().command, {}, "rocband", "_ROCBAND_COMPLETE").source())
