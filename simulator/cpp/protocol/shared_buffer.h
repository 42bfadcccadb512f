// The shared buffer of a switch, and thresholds in proportion to the rates of its ports.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/configuration.h"
#include "protocol/packet_kind.h"

namespace simulator {

// The shared buffer (MMU) of a switch with priorities: where a frame is stored, and which links must pause.
//
// Each ingress is charged, per priority, for the frames that came in over it and wait. A frame goes to the
// shared part while its ingress stays within its threshold; otherwise to the headroom reserved for that ingress
// and priority, and then the other end of the link must pause. In an input-queued switch each link has a
// separate buffer, and the threshold is for all frames that came in over it: the whole buffer, or
// less. Source: IEEE 802.1Qbb-2011 for pausing; Guo et al., "RDMA over commodity Ethernet at scale",
// SIGCOMM 2016, section 6.2, for the dynamic threshold alpha * (free buffer); switch-mmu.cc of the
// simulator of HPCC (SIGCOMM 2019) for emptying the headroom first and for resuming below the threshold.

// Waiting frames that came in over one link.
struct alignas(64) IngressAccount {
  std::array<std::int64_t, kPriorities> shared{};
  std::array<std::int64_t, kPriorities> headroom{};
  std::int64_t headroom_size = 0;      // of each lossless priority
  std::int64_t headroom_used_max = 0;  // by any priority, ever
  PriorityMask pausing = 0;            // priorities paused at the other end
  bool is_refresh_pending = false;     // a timer will repeat the pause frame
  std::uint32_t input = 0;             // number of the link at its switch
};

class SharedBuffer {
 public:
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max() / 2;

  explicit SharedBuffer(const SwitchConfiguration& configuration)
      : size_(configuration.buffer.value_or(Bytes{kUnbounded}).value),
        pause_(configuration.pause.value_or(PauseConfiguration{})),
        alpha_(configuration.alpha),
        is_of_one_input_(configuration.is_input_queued) {}

  const PauseConfiguration& pause() const { return pause_; }
  bool is_lossless(std::uint32_t priority) const { return has_priority(pause_.priorities, priority); }
  std::int64_t used() const { return used_; }
  std::int64_t size() const { return size_; }  // without all headroom

  // Takes the headroom of one more ingress off the buffer.
  void open(IngressAccount& account, Bytes headroom) {
    account.headroom_size = headroom.value;
    size_ -= headroom.value * count_of(pause_.priorities);
  }

  // A frame of a lossless priority stays within the threshold of its ingress.
  bool fits(const IngressAccount& account, std::uint32_t priority, std::int64_t frame_bytes) const {
    return frame_bytes <= free() && is_within(counted(account, priority) + frame_bytes);
  }

  // A frame of a lossy priority with `queued` bytes of that priority at the egress. Source: Choudhury and Hahne,
  // "Dynamic queue length thresholds for shared-memory packet switches", 1998.
  bool fits_lossy(std::int64_t waiting_bytes, std::int64_t frame_bytes) const {
    if (frame_bytes > free()) return false;
    return is_of_one_input_ || static_cast<double>(waiting_bytes) < alpha_ * static_cast<double>(free());
  }

  // Only lossless priorities have thresholds by ingress, and so accounts.
  void charge(IngressAccount& account, std::uint32_t priority, std::int64_t frame_bytes) {
    if (is_lossless(priority)) account.shared[priority] += frame_bytes;
    used_ += frame_bytes;
  }

  // False if the headroom is full: then the frame is lost.
  [[nodiscard]] bool charge_headroom(IngressAccount& account, std::uint32_t priority,
                                     std::int64_t frame_bytes) {
    const std::int64_t after = account.headroom[priority] + frame_bytes;
    if (after > account.headroom_size) return false;
    account.headroom[priority] = after;
    account.headroom_used_max = std::max(account.headroom_used_max, after);
    return true;
  }

  void release(IngressAccount& account, std::uint32_t priority, std::int64_t frame_bytes) {
    const std::int64_t from_headroom = std::min(account.headroom[priority], frame_bytes);
    account.headroom[priority] -= from_headroom;
    release_shared(account, priority, frame_bytes - from_headroom);
  }

  // As above, while no link is paused and so no headroom is in use.
  void release_shared(IngressAccount& account, std::uint32_t priority, std::int64_t frame_bytes) {
    if (is_lossless(priority)) account.shared[priority] -= frame_bytes;
    used_ -= frame_bytes;
  }

  // True if the other end may resume: its headroom is empty again, and the rest is well below the threshold.
  bool may_resume(const IngressAccount& account, std::uint32_t priority) const {
    if (account.headroom[priority] != 0) return false;
    const std::int64_t waiting = counted(account, priority);
    return waiting == 0 || is_within(waiting + pause_.xon_gap.value);
  }

 private:
  std::int64_t free() const { return size_ - used_; }
  std::int64_t counted(const IngressAccount& account, std::uint32_t priority) const {
    return is_of_one_input_ ? used_ : account.shared[priority];
  }
  bool is_within(std::int64_t bytes) const {
    if (pause_.xoff) return bytes <= pause_.xoff->value;
    if (is_of_one_input_) return bytes <= size_;
    return static_cast<double>(bytes) <= pause_.alpha * static_cast<double>(free());
  }

  std::int64_t used_ = 0;
  std::int64_t size_;
  PauseConfiguration pause_;
  double alpha_;
  bool is_of_one_input_;
};

// Thresholds of a switch that are in proportion to the rates of its ports: a queue of a slow port is as long in
// time as one of a fast port. Source: uet-htsim, datacenter/fat_tree_topology.cpp (alloc_queue, commit 40ccb05),
// whose slow links trim and mark at their share of the bytes.

// A threshold for a port of `stated_at`, scaled to a port of `rate`; unscaled if `stated_at` is zero.
inline Bytes at_rate(Bytes threshold, BitsPerSecond rate, BitsPerSecond stated_at) {
  if (stated_at.value == 0 || rate == stated_at) return threshold;
  const double share = static_cast<double>(rate.value) / static_cast<double>(stated_at.value);
  return {static_cast<std::int64_t>(static_cast<double>(threshold.value) * share)};
}

inline TrimmingConfiguration at_rate(TrimmingConfiguration trimming, BitsPerSecond rate,
                                     BitsPerSecond stated_at) {
  if (trimming.above) trimming.above = at_rate(*trimming.above, rate, stated_at);
  return trimming;
}

inline std::vector<MarkingConfiguration> at_rate(std::vector<MarkingConfiguration> markings,
                                                 BitsPerSecond rate, BitsPerSecond stated_at) {
  for (MarkingConfiguration& marking : markings) {
    marking.minimum = at_rate(marking.minimum, rate, stated_at);
    marking.maximum = at_rate(marking.maximum, rate, stated_at);
  }
  return markings;
}

}  // namespace simulator
