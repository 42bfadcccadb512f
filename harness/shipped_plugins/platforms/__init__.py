"""Switch platforms beyond those that are built in: a file for each, called as the platform is."""
