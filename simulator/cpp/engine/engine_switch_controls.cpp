// Calls to plug-in switch controls for packets, and the effect of their verdicts.
#include "engine/departures.h"

namespace simulator {

rogue::PacketSeen Engine::seen(PacketIndex index) {
  const Packet& packet = world_.pool[index];
  const bool is_of_verb = packet.kind < PacketKind::kDatagram;
  return {.frame_bytes = packet.frame_bytes,
          .priority = packet.priority(),
          .flow = is_of_verb ? queue_pair_number(packet.qp) : 0,
          .entropy = is_of_verb && packet.is_sprayed() ? packet.path() : 0,
          .is_data = carries_data(packet.kind),
          .can_be_marked = may_be_marked(packet.kind) && packet.is_ecn_capable(),
          .is_marked = is_of_verb && packet.is_marked(),
          .can_be_trimmed = can_be_trimmed(index)};
}

// The verdict for a packet that arrived at its port. A packet to trim is already trimmed.
rogue::Verdict Engine::run_arrival_aqm(const Port& port, PacketIndex index) {
  const ClassedPort& classes = world_.classes_of(port);
  if (!classes.counters->aqm->sees_arrivals()) return rogue::Verdict::kTake;
  const std::uint32_t priority = world_.pool[index].priority();
  const rogue::Arrival arrival{.now_ps = now_.value,
                               .queue_bytes = classes.queues[priority].bytes.value,
                               .port_bytes = world_.waiting_bytes_of(port).value,
                               .must_wait = port.busy_until > now_ || classes.is_paused(priority, now_),
                               .packet = seen(index)};
  const rogue::Verdict verdict = classes.counters->aqm->on_arrival(arrival);
  if (verdict == rogue::Verdict::kTrim) cut(port, index);
  const bool is_mark = verdict == rogue::Verdict::kMark && arrival.packet.can_be_marked;
  return is_mark || verdict == rogue::Verdict::kDrop ? verdict : rogue::Verdict::kTake;
}

// A packet is about to leave: false if it is to be dropped.
bool Engine::may_depart(const Port& port, PacketIndex index, Picoseconds start) {
  ClassedPort& classes = world_.classes_of(port);
  if (!classes.has_departure_aqm()) return true;
  const Packet& packet = world_.pool[index];
  const rogue::Departure departure{.now_ps = start.value,
                                   .waited_ps = (start - packet.arrival).value,
                                   .queue_bytes = classes.queues[packet.priority()].bytes.value,
                                   .port_bytes = world_.waiting_bytes_of(port).value,
                                   .packet = seen(index)};
  const rogue::Verdict verdict = classes.counters->aqm->on_departure(departure);
  if (verdict == rogue::Verdict::kMark && departure.packet.can_be_marked) set_mark(classes, index);
  return verdict != rogue::Verdict::kDrop;
}

void Engine::depart_with_aqm(Port& port, PacketIndex index, Picoseconds start) {
  depart(port, index, start);
  if (world_.classes_of(port).has_telemetry) feedback_.write_telemetry(port, index, start);
}

// The port has been caught up. It is one of a switch.
void Engine::enqueue_with_aqm(std::uint32_t link, PacketIndex index, bool must_set_slot) {
  Port& port = world_.ports[link];
  ClassedPort& classes = world_.classes_of(port);
  if (is_refused(classes, world_.pool[index])) return drop_classed(link, index, PacketFate::kWatchdog);
  const rogue::Verdict verdict = run_arrival_aqm(port, index);
  if (verdict == rogue::Verdict::kDrop) return drop_classed(link, index, PacketFate::kMarker);
  const std::uint32_t priority = world_.pool[index].priority();
  const std::uint32_t input = classes.has_virtual_queues ? world_.ingress_of(world_.pool[index]).input : 0;
  if (port.busy_until <= now_ && !classes.is_paused(priority, now_)) {
    if (verdict == rogue::Verdict::kMark) set_mark(classes, index);
    if (!may_depart(port, index, now_)) return drop_by_aqm(link, index, now_);
    depart_with_aqm(port, index, now_);
    if (classes.has_virtual_queues) classes.virtual_queues->on_passed(priority, input);
  } else {
    if (!admit(link, index)) return;
    if (verdict == rogue::Verdict::kMark) set_mark(classes, index);
    classes.push(world_.pool, priority, index, input);
    if (classes.rocc) feedback_.start_period(classes);
  }
  if (must_set_slot || port.has(Port::kEager)) set_slot_classed(link);
}

// The first packet of a queue leaves, or is dropped, and with it the account of its ingress is.
void Engine::send_with_aqm(Port& port, ClassedPort& classes, std::uint32_t priority, Picoseconds start) {
  const PacketIndex index = classes.pop(world_.pool, priority);
  const bool departs = may_depart(port, index, start);
  if (departs) depart_with_aqm(port, index, start);
  release(port, index, start);
  if (!departs) drop_by_aqm(world_.link_of(port), index, start);
}

void Engine::drop_by_aqm(std::uint32_t link, PacketIndex index, Picoseconds at) {
  record(link, index, PacketFate::kMarker, at);
  ++world_.classes[link].counters->priorities[world_.pool[index].priority()].dropped_packets;
  ++world_.links[link].dropped_packets;
  forget(index);
}

// The next link of a sprayed packet at a switch whose plug-in chooses.
std::uint32_t Engine::select_port(std::uint32_t link, PacketIndex index) {
  const Packet& packet = world_.pool[index];
  const auto [ports, hashed] = forwarding_.equal_ports(link, packet);
  if (ports.size() == 1) return ports[hashed];
  SwitchControl* const port_selector = world_.switches[world_.switch_behind(link)].port_selector.get();
  const bool wants_queues = port_selector->wants_queues();
  equal_.clear();
  for (const std::uint32_t number : ports) {
    Port& port = world_.ports[number];
    if (wants_queues) catch_up(port);
    equal_.push_back({.rate_bps = world_.speeds[port.speed].rate.value,
                      .queue_bytes = wants_queues ? world_.waiting_bytes_of(port).value : 0,
                      .sent_bytes = wants_queues ? port.sent_bytes.value : 0,
                      .number = number,
                      .is_sending = wants_queues && port.busy_until > now_});
  }
  return ports[port_selector->choose({.now_ps = now_.value,
                                      .ports = equal_.data(),
                                      .port_count = static_cast<std::uint32_t>(equal_.size()),
                                      .hashed = hashed,
                                      .packet = seen(index)})];
}

}  // namespace simulator
