"""What all pages share."""

import pytest
from jinja2 import UndefinedError

from rogue.reports.templates.environment import environment, style


def test_values_are_escaped_and_must_be_there() -> None:
    page = environment().from_string("{{ name }}")
    assert page.render(name="<b>") == "&lt;b&gt;"
    with pytest.raises(UndefinedError):
        page.render()


def test_the_style_sheet_is_not_escaped() -> None:
    assert "{{ style }}" not in environment().from_string("{{ style }}").render(style=style())
    assert '"Segoe UI"' in environment().from_string("{{ style }}").render(style=style())
