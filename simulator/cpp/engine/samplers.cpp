// What is recorded every so often.
#include "engine/samplers.h"

namespace simulator {

void Samplers::sample_throughput(Picoseconds now) {
  const std::int64_t interval_ns = throughput_interval_.value / kPicosecondsPerNanosecond;
  const std::int64_t now_ns = now.value / kPicosecondsPerNanosecond;
  delivered_.resize(world_.senders.size());
  for (std::uint32_t qp = 0; qp < world_.senders.size(); ++qp) {
    if (!world_.with_requester(qp, [](const auto& requester) { return requester.has_ever_posted(); }))
      continue;
    const Bytes delivered = world_.delivered_by(qp);
    const Bytes since = delivered - delivered_[qp];
    delivered_[qp] = delivered;
    recorder_.throughput.add({queue_pair_number(qp), now_ns, interval_ns, since.value});
  }
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
