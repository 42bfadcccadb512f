// The send queue of a queue pair: verbs in posting order, addressed by a running number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"

namespace simulator {

// Numbers of enum ibv_wc_status.
enum class VerbStatus : int { kSuccess = 0, kFlushed = 5, kRetryExceeded = 12 };

enum class VerbKind : std::uint8_t { kWrite, kSend, kRead };

struct Verb {
  std::uint64_t wr_id = 0;
  std::uint64_t first_psn = 0;
  std::uint64_t last_psn = 0;
  Bytes length;
  // End of the first transmission of the last packet: an oracle, no verb delivers it. For a READ, what lies
  // between it and the completion is the time that request and last response were under way.
  Picoseconds left_nic = kNever;
  std::uint32_t last_payload_bytes = 0;
  bool is_signaled = false;
  VerbKind kind = VerbKind::kWrite;
  std::optional<std::uint32_t> immediate{};
  std::int64_t local_offset = 0;
  std::int64_t remote_offset = 0;
  bool moves_bytes = false;  // between memories
};

class VerbRing {
 public:
  bool empty() const { return head_ == tail_; }
  std::uint64_t head() const { return head_; }
  std::uint64_t tail() const { return tail_; }

  Verb& operator[](std::uint64_t number) { return slots_[number & (slots_.size() - 1)]; }
  const Verb& operator[](std::uint64_t number) const { return slots_[number & (slots_.size() - 1)]; }
  Verb& front() { return (*this)[head_]; }
  const Verb& front() const { return (*this)[head_]; }

  void push(const Verb& verb) {
    if (tail_ - head_ == slots_.size()) grow();
    (*this)[tail_++] = verb;
  }
  void pop() { ++head_; }
  void clear() { head_ = tail_; }

 private:
  void grow() {
    std::vector<Verb> larger(slots_.empty() ? 4 : slots_.size() * 2);
    for (std::uint64_t n = head_; n != tail_; ++n) larger[n & (larger.size() - 1)] = (*this)[n];
    slots_ = std::move(larger);
  }

  std::vector<Verb> slots_;  // a power of two, or empty
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
};

}  // namespace simulator
