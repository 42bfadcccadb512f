// What is recorded every so often.
#include "engine/samplers.h"

namespace simulator {

void Samplers::add_throughput(Columns<4>& rows, Picoseconds now) const {
  if (throughput_interval_ == Picoseconds{} || now == throughput_sampled_) return;
  const std::int64_t interval_ns = (now - throughput_sampled_).value / kPicosecondsPerNanosecond;
  const std::int64_t now_ns = now.value / kPicosecondsPerNanosecond;
  for (std::uint32_t qp = 0; qp < world_.senders.size(); ++qp) {
    if (!world_.with_requester(qp, [](const auto& requester) { return requester.has_ever_posted(); }))
      continue;
    const Bytes before = qp < delivered_.size() ? delivered_[qp] : Bytes{};
    rows.add({queue_pair_number(qp), now_ns, interval_ns, (world_.delivered_by(qp) - before).value});
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
  const std::int64_t now_ns = now.value / kPicosecondsPerNanosecond;
  for (std::uint32_t link = 0; link < world_.ports.size(); ++link) {
    if (!world_.ports[link].has(Port::kOwnerIsHost)) sample_queue(link, now_ns);
  }
  set_queue_timer(now);
}

void Samplers::sample_queue(std::uint32_t link, std::int64_t now_ns) {
  Port& port = world_.ports[link];
  if (port.has(Port::kClassed)) {
    for_each_priority(world_.priorities, [&](std::uint32_t priority) {
      ClassQueue& queue = world_.classes_of(port).queues[priority];
      ClassCounters::OfPriority& counters = world_.classes_of(port).counters->priorities[priority];
      const std::int64_t drops = counters.dropped_packets - counters.dropped_packets_sampled;
      counters.dropped_packets_sampled = counters.dropped_packets;
      const std::int64_t marks = counters.marked_packets - counters.marked_packets_sampled;
      counters.marked_packets_sampled = counters.marked_packets;
      recorder_.queues.add({link, priority, now_ns, queue.bytes.value, queue.bytes_max.value, drops, marks});
      queue.bytes_max = queue.bytes;
    });
    return;
  }
  LinkRecord& record = world_.links[link];
  const std::int64_t drops = record.dropped_packets - record.dropped_packets_sampled;
  record.dropped_packets_sampled = record.dropped_packets;
  recorder_.queues.add({link, 0, now_ns, port.waiting_bytes.value, port.waiting_bytes_max.value, drops, 0});
  port.waiting_bytes_max = port.waiting_bytes;
}

}  // namespace simulator
