"""Virtual machines with soft-RoCE, for everyone without RDMA NICs: image, machines, cables, SSH."""
