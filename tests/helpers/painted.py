"""What another program than matplotlib and a browser paints of an SVG, with matplotlib's own fonts."""

import io
from pathlib import Path

import matplotlib as mpl
from PIL import Image
from resvg_py import svg_to_bytes

DOTS_PER_INCH = 96.0  # as CSS has it: a point is 4/3 pixels


def painted(svg: str, zoom: float = 1.0) -> Image.Image:
    """Grey, on white; the machine's own fonts are left out, so that it looks the same on every one."""
    image = svg_to_bytes(
        svg_string=svg,
        zoom=zoom,
        dpi=DOTS_PER_INCH,
        background="white",
        skip_system_fonts=True,
        font_dirs=[str(Path(mpl.get_data_path(), "fonts/ttf"))],
        sans_serif_family="DejaVu Sans",
    )
    return Image.open(io.BytesIO(image)).convert("L")
