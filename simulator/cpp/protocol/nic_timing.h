// Times that a NIC adds: the error of its clock, and the delay of PCI Express.
#pragma once

#include <cstdint>

#include "base/configuration.h"
#include "base/random_stream.h"
#include "base/units.h"

namespace simulator {

// The free-running clock of a NIC: its own offset, its own drift. Rate limiters run on the same oscillator.
class NicClock {
 public:
  NicClock(const NicProfile& profile, RandomStream stream) {
    drift_ = profile.clock_drift_ppm_max * 1e-6 * (2.0 * stream.next_fraction() - 1.0);
    if (profile.clock_drift_ppm_max > 0) offset_ns_ = stream.next_integer(kOffsetMaxNs);
  }

  // floor(offset + time * (1 + drift)), in nanoseconds of this NIC.
  std::int64_t read_ns(Picoseconds now) const {
    const auto drifted = static_cast<std::int64_t>(static_cast<double>(now.value) * drift_);
    return offset_ns_ + (now.value + drifted) / kPicosecondsPerNanosecond;
  }

  // The same without rounding, for oracle values.
  double exact_ns(Picoseconds at) const {
    return static_cast<double>(offset_ns_) +
           static_cast<double>(at.value) * (1 + drift_) / kPicosecondsPerNanosecond;
  }

  // True duration of one second counted by this clock, in seconds.
  double second() const { return 1.0 / (1.0 + drift_); }
  double drift() const { return drift_; }

 private:
  static constexpr std::int64_t kOffsetMaxNs = 3'600'000'000'000;  // up at most an hour before the run
  double drift_ = 0;
  std::int64_t offset_ns_ = 0;
};

// Delay of a completion by the NIC's PCI transactions. The times have a random stream of their
// own, so that switching them off changes no other random number.
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
