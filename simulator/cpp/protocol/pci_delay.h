// What a NIC's PCI transactions add to the timestamps of its completions. The terms have a random stream of
// their own, so that switching them off changes no other random number.
#pragma once

#include <cstdint>

#include "base/configuration.h"
#include "base/random_stream.h"

namespace simulator {

class PciDelay {
 public:
  PciDelay(const NicProfile& profile, RandomStream stream)
      : reliable_ns_(profile.pci_rc_ns),
        unreliable_ns_(profile.pci_uc_ns),
        late_ns_(profile.pci_late_ns),
        late_probability_(profile.pci_late_probability),
        stream_(stream) {}

  // A verb of a reliable connection that moved data: two transactions, and sometimes a late one.
  std::int64_t reliable_ns(Bytes length) {
    if (length.value == 0) return 0;
    if (late_probability_ <= 0) return reliable_ns_;
    return reliable_ns_ + (stream_.next_fraction() < late_probability_ ? late_ns_ : 0);
  }

  // An empty message of an unreliable connection has been received. It follows one with data, and carries the
  // terms of the whole exchange.
  std::int64_t unreliable_ns(Bytes length) const { return length.value == 0 ? unreliable_ns_ : 0; }

 private:
  std::int64_t reliable_ns_;
  std::int64_t unreliable_ns_;
  std::int64_t late_ns_;
  double late_probability_;
  RandomStream stream_;
};

}  // namespace simulator
