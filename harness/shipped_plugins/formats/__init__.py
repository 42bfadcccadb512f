"""Files of other simulators: a file for each format, called as the format is, with _ for -."""
