// CoDel: marks, or drops what may not be marked, by how long packets have waited.
// Source: Nichols et al., "Controlled delay active queue management", RFC 8289, section 5 (pseudocode).
// Deviation: it marks packets that may be marked instead of dropping them, and leaves acknowledgements alone.
#pragma once

#include <rogue/switch_control.h>

#include <array>
#include <cmath>
#include <cstdint>

class Codel final : public rogue::SwitchControl {
 public:
  Codel(const rogue::Parameters& parameters, const rogue::Place&)
      : target_ps_(parameters.whole("target_ns") * 1000),
        interval_ps_(parameters.whole("interval_ns") * 1000),
        packet_bytes_(parameters.whole("packet_bytes")) {}

  rogue::Verdict on_departure(const rogue::Departure& departure) override {
    Queue& queue = queues_[departure.packet.priority];
    const bool may_act = has_waited_long(queue, departure);
    if (queue.is_acting) {
      if (!may_act) queue.is_acting = false;
      if (!may_act || departure.now_ps < queue.next_ps) return rogue::Verdict::kTake;
      ++queue.count;
      queue.next_ps = after(queue.next_ps, queue.count);
      return verdict(departure);
    }
    if (!may_act) return rogue::Verdict::kTake;
    begin(queue, departure.now_ps);
    return verdict(departure);
  }

 private:
  struct Queue {
    std::int64_t first_above_ps = 0;  // what is above the target then has been for an interval; 0: nothing is
    std::int64_t next_ps = 0;
    std::int64_t count = 0;       // of marks since it began to act
    std::int64_t count_last = 0;  // when it began last
    bool is_acting = false;
  };

  // Above the target for a whole interval, and more than a packet waits.
  bool has_waited_long(Queue& queue, const rogue::Departure& departure) const {
    if (departure.waited_ps < target_ps_ || departure.queue_bytes <= packet_bytes_) {
      queue.first_above_ps = 0;
      return false;
    }
    if (queue.first_above_ps == 0) {
      queue.first_above_ps = departure.now_ps + interval_ps_;
      return false;
    }
    return departure.now_ps >= queue.first_above_ps;
  }

  // A queue that acted recently continues at its previous rate.
  void begin(Queue& queue, std::int64_t now_ps) const {
    const std::int64_t delta = queue.count - queue.count_last;
    const bool was_acting = now_ps - queue.next_ps < 16 * interval_ps_;
    queue.is_acting = true;
    queue.count = delta > 1 && was_acting ? delta : 1;
    queue.next_ps = after(now_ps, queue.count);
    queue.count_last = queue.count;
  }

  std::int64_t after(std::int64_t at_ps, std::int64_t count) const {
    const double gap_ps = static_cast<double>(interval_ps_) / std::sqrt(static_cast<double>(count));
    return at_ps + static_cast<std::int64_t>(gap_ps);
  }

  static rogue::Verdict verdict(const rogue::Departure& departure) {
    if (departure.packet.can_be_marked) return rogue::Verdict::kMark;
    return departure.packet.is_data ? rogue::Verdict::kDrop : rogue::Verdict::kTake;
  }

  std::int64_t target_ps_;
  std::int64_t interval_ps_;
  std::int64_t packet_bytes_;
  std::array<Queue, 8> queues_{};
};

// For round trips of up to 100 us; the target is 5 to 10 % of that. Source: RFC 8289 (target setpoint).
ROGUE_SWITCH_CONTROL(Codel, "codel", "CoDel: marks by how long packets have waited",
                     {"target_ns", 10'000, 1, 1e9, "what packets may wait for an interval"},
                     {"interval_ns", 100'000, 1, 1e10, "about the longest usual round trip"},
                     {"packet_bytes", 1'086, 1, 1e5, "while no more waits behind it, no packet is marked"});
