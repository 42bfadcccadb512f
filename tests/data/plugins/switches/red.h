// DCQCN's marking, as the engine has it: by the queue that a packet leaves behind.
#pragma once

#include <rogue/switch_control.h>

#include <cstdint>

class Red final : public rogue::SwitchControl {
 public:
  Red(const rogue::Parameters& parameters, const rogue::Place& place)
      : kmin_bytes_(parameters.at("kmin_bytes")),
        kmax_bytes_(parameters.at("kmax_bytes")),
        pmax_(parameters.at("pmax")),
        random_(place.random_state) {}

  // Source: Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, section 3.1.
  rogue::Verdict on_departure(const rogue::Departure& departure) override {
    if (!departure.packet.can_be_marked) return rogue::Verdict::kTake;
    const auto queue_bytes = static_cast<double>(departure.queue_bytes);
    if (queue_bytes <= kmin_bytes_) return rogue::Verdict::kTake;
    if (queue_bytes > kmax_bytes_) return rogue::Verdict::kMark;
    const double probability = pmax_ * (queue_bytes - kmin_bytes_) / (kmax_bytes_ - kmin_bytes_);
    return random_.next_fraction() < probability ? rogue::Verdict::kMark : rogue::Verdict::kTake;
  }

 private:
  double kmin_bytes_;
  double kmax_bytes_;
  double pmax_;
  rogue::Random random_;
};

ROGUE_SWITCH_CONTROL(Red, "red", "marks by the queue that a packet leaves behind",
                     {"kmin_bytes", 5'000, 0, 1e12, "queues up to this are not marked"},
                     {"kmax_bytes", 200'000, 0, 1e12, "above this all packets are"},
                     {"pmax", 0.01, 1e-9, 1, "probability just below that"});
