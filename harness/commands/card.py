"""`rogue doctor --card`."""

import os
from collections.abc import Mapping
from pathlib import Path

import typer

from rogue.harness.commands.opened_inventory import opened_inventory
from rogue.harness.commands.output_file import write_output
from rogue.harness.errors import UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.provisioning.card_bundle import ask_cards, is_bundle, read_bundle, sentences, text_of
from rogue.harness.provisioning.inventory_file import NamedInventory
from rogue.workloads.printable import printable


def examine_cards(named: NamedInventory, path: Path, others: Mapping[str, object]) -> ExitCode:
    """Ask two cards, keep what they say in a file, and print it.

    others: what else the command line may have, by its name; it has no meaning here, so it is refused.
    """
    _check_alone("--card, expected an inventory alone", others)
    _check_place(path)
    bundle = ask_cards(opened_inventory(named))
    write_output(path, text_of(bundle))
    typer.echo("\n".join(sentences(bundle)))
    typer.echo(printable(f"all of it, without names and addresses: {path}"))
    return ExitCode.OK


def _check_alone(beside: str, others: Mapping[str, object]) -> None:
    """Whoever names a cell beside cards expects something that is not done."""
    given = ", ".join(name for name, value in others.items() if value)
    if given:
        raise UsageError(f"doctor: got {given} with {beside}; leave {given} out.")


def _check_place(path: Path) -> None:
    """Before cards are asked for half a minute: nothing but an earlier file of --card is overwritten."""
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK | os.X_OK):
        raise UsageError(f"--card: got {path}, expected a file in a directory to write to; name another.")
    if path.is_symlink() or (path.exists() and not (path.is_file() and is_bundle(path))):
        expected = "a new file, or one of an earlier `rogue doctor --card`"
        raise UsageError(f"--card: got {path}, which is something else, expected {expected}; name another.")


def tell_cards(path: Path, others: Mapping[str, object]) -> ExitCode:
    """Print what a file says that somebody sent; nobody is asked, so others have no meaning."""
    _check_alone("a file of cards, expected that alone", others)
    typer.echo("\n".join(sentences(read_bundle(path))))
    return ExitCode.OK
