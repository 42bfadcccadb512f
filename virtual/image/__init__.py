"""The Debian image that all virtual machines share: recipe, build and cache."""
