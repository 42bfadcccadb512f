// How long a NIC's PCI transactions keep a completion from its host. The times have a random stream of their
// own, so that switching them off changes no other random number.
#pragma once

#include <cstdint>

#include "base/configuration.h"
#include "base/random_stream.h"
#include "base/units.h"

namespace simulator {

class PciDelay {
 public:
  PciDelay(const NicProfile& profile, RandomStream stream)
      : reliable_(of_nanoseconds(profile.pci_rc_ns)),
        unreliable_(of_nanoseconds(profile.pci_uc_ns)),
        late_(of_nanoseconds(profile.pci_late_ns)),
        late_probability_(profile.pci_late_probability),
        stream_(stream) {}

  // A verb of a reliable connection that moved data: two transactions, and sometimes a late one.
  Picoseconds reliable(Bytes length) {
    if (length.value == 0) return {};
    if (late_probability_ <= 0) return reliable_;
    return reliable_ + (stream_.next_fraction() < late_probability_ ? late_ : Picoseconds{});
  }

  // An empty message of an unreliable connection has been received. It follows one with data, and carries the
  // time of the whole exchange.
  Picoseconds unreliable(Bytes length) const { return length.value == 0 ? unreliable_ : Picoseconds{}; }

 private:
  static constexpr Picoseconds of_nanoseconds(std::int64_t ns) { return {ns * kPicosecondsPerNanosecond}; }

  Picoseconds reliable_;
  Picoseconds unreliable_;
  Picoseconds late_;
  double late_probability_;
  RandomStream stream_;
};

}  // namespace simulator
