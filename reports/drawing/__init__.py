"""How anything is drawn, and what a drawing becomes: SVG, the data in it."""
