// Periodic samples.
#include "engine/samplers.h"

namespace simulator {

void Samplers::add_throughput(std::vector<DeliverySample>& rows, Picoseconds now) const {
  if (throughput_interval_ == Picoseconds{} || now == throughput_sampled_) return;
  for (std::uint32_t qp = 0; qp < world_.senders.size(); ++qp) {
    if (!world_.with_requester(qp, [](const auto& requester) { return requester.has_ever_posted(); }))
      continue;
    const Bytes before = qp < delivered_.size() ? delivered_[qp] : Bytes{};
    rows.push_back({.qp_num = queue_pair_number(qp),
                    .end = now,
                    .interval = now - throughput_sampled_,
                    .delivered = world_.delivered_by(qp) - before});
  }
}

void Samplers::sample_throughput(Picoseconds now) {
  add_throughput(recorder_.throughput, now);
  throughput_sampled_ = now;
  delivered_.resize(world_.senders.size());
  for (std::uint32_t qp = 0; qp < world_.senders.size(); ++qp) delivered_[qp] = world_.delivered_by(qp);
  timers_.set(throughput_timer_, now + throughput_interval_);
}

void Samplers::sample_queues(Picoseconds now) {
  for (std::uint32_t link = 0; link < world_.ports.size(); ++link) {
    if (!world_.ports[link].has(Port::kOwnerIsHost)) sample_queue(link, now);
  }
  set_queue_timer(now);
}

void Samplers::sample_queue(std::uint32_t link, Picoseconds now) {
  Port& port = world_.ports[link];
  if (port.has(Port::kClassed)) {
    for_each_priority(world_.priorities, [&](std::uint32_t priority) {
      ClassQueue& queue = world_.classes_of(port).queues[priority];
      ClassCounters::OfPriority& counters = world_.classes_of(port).counters->priorities[priority];
      const std::int64_t drops = counters.dropped_packets - counters.dropped_packets_sampled;
      counters.dropped_packets_sampled = counters.dropped_packets;
      const std::int64_t marks = counters.marked_packets - counters.marked_packets_sampled;
      counters.marked_packets_sampled = counters.marked_packets;
      recorder_.queues.push_back({.link = link,
                                  .priority = priority,
                                  .at = now,
                                  .waiting = queue.bytes,
                                  .waiting_max = queue.bytes_max,
                                  .drops = drops,
                                  .marks = marks});
      queue.bytes_max = queue.bytes;
    });
    return;
  }
  LinkRecord& record = world_.links[link];
  const std::int64_t drops = record.dropped_packets - record.dropped_packets_sampled;
  record.dropped_packets_sampled = record.dropped_packets;
  recorder_.queues.push_back({.link = link,
                              .at = now,
                              .waiting = port.waiting_bytes,
                              .waiting_max = port.waiting_bytes_max,
                              .drops = drops});
  port.waiting_bytes_max = port.waiting_bytes;
}

}  // namespace simulator
