"""Files of data that experiments name, and files of other simulators."""
