// Two timers that write down, every so often, what queue pairs deliver and what waits in switches.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/timer_queue.h"
#include "engine/world.h"
#include "results/recorder.h"

namespace simulator {

class Samplers {
 public:
  Samplers(World& world, TimerQueue& timers, Recorder& recorder)
      : world_(world),
        timers_(timers),
        recorder_(recorder),
        throughput_timer_(timers.create(TimerKind::kSampleThroughput, 0)),
        queue_timer_(timers.create(TimerKind::kSampleQueues, 0)) {}

  void sample_throughput_every(Picoseconds interval, Picoseconds now) {
    throughput_interval_ = interval;
    throughput_sampled_ = now;
    timers_.set(throughput_timer_, now + interval);
  }
  void sample_queues_every(Picoseconds interval, Picoseconds now) {
    queue_interval_ = interval;
    set_queue_timer(now);
  }
  Picoseconds next_queue_sample() const { return next_queue_sample_; }
  // Appends one row per queue pair that has ever posted: what was delivered since the last sample; no rows if
  // that is now.
  void add_throughput(std::vector<DeliverySample>& rows, Picoseconds now) const;

  // A timer has come. Catch up all links before sample_queues().
  void sample_throughput(Picoseconds now);
  void sample_queues(Picoseconds now);

 private:
  void sample_queue(std::uint32_t link, Picoseconds now);
  void set_queue_timer(Picoseconds now) {
    next_queue_sample_ = now + queue_interval_;
    timers_.set(queue_timer_, next_queue_sample_);
  }

  World& world_;
  TimerQueue& timers_;
  Recorder& recorder_;
  std::uint32_t throughput_timer_;
  std::uint32_t queue_timer_;
  Picoseconds throughput_interval_;
  Picoseconds throughput_sampled_;
  Picoseconds queue_interval_;
  Picoseconds next_queue_sample_ = kNever;
  std::vector<Bytes> delivered_;  // by queue pair, until the last sample
};

}  // namespace simulator
