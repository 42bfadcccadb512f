"""Hold a NIC to what specifications and its profile say about single packets."""
