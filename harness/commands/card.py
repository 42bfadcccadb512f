"""`rogue doctor --card`."""

from pathlib import Path

import typer

from rogue.harness.commands.opened_inventory import opened_inventory
from rogue.harness.exit_codes import ExitCode
from rogue.harness.provisioning.card_bundle import ask_cards, read_bundle, sentences, write_bundle
from rogue.harness.provisioning.inventory_file import NamedInventory


def examine_cards(named: NamedInventory, path: Path) -> ExitCode:
    """Ask two cards, keep what they say in a file, and print it."""
    bundle = ask_cards(opened_inventory(named))
    write_bundle(bundle, path)
    typer.echo("\n".join(sentences(bundle)))
    typer.echo(f"all of it, without names and addresses: {path}")
    return ExitCode.OK


def tell_cards(path: Path) -> ExitCode:
    """Print what a file says that somebody sent."""
    typer.echo("\n".join(sentences(read_bundle(path))))
    return ExitCode.OK
