"""Draw figures with seaborn and matplotlib, and write them as SVG."""
