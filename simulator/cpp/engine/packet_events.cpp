// Events of single packets, at the far end of the link that they leave their NIC on.

#include "engine/packet_events.h"

#include <algorithm>

#include "engine/departures.h"

namespace simulator {

// A switch that a delayed packet comes back to at its own instant does not run ahead.
void PacketEvents::add(const PacketEvent& event) {
  engine_.require_no_switch_ahead("packet_event", engine_.now_);
  const std::uint32_t link = world_.nics[world_.nodes[event.host].index].link;
  const auto number = static_cast<std::uint32_t>(watches_.size());
  const bool is_delayed = event.action == PacketAction::kDelay;
  const std::uint32_t timer = is_delayed ? engine_.timers_.create(TimerKind::kPacketEvent, number) : 0;
  Port& port = world_.ports[link];
  if (is_delayed && !port.has(Port::kPeerIsHost)) world_.switches[world_.switch_behind(link)].lookahead = {};
  port.flags |= Port::kHasEvents;
  watches_.push_back({PacketWatch(event), link, timer});
}

// Takes over a packet that has come over the link: it continues from here, or ends.
void PacketEvents::on_arrival(std::uint32_t link, PacketIndex index) {
  const PacketIdentity identity = identify(index);
  PacketTreatment treatment;
  for (std::size_t number = 0; number < watches_.size(); ++number) {
    Watch& watch = watches_[number];
    if (watch.link == link && watch.packet.strikes(identity, engine_.now_))
      treatment.add(number, watch.packet.event());
  }
  if (treatment.is_marked) world_.pool[index].psn |= Packet::kMarked;
  if (treatment.is_corrupt) world_.pool[index].psn |= Packet::kCorrupt;
  if (treatment.is_dropped) return engine_.lose(link, index, PacketFate::kEvent);
  engine_.record(link, index, PacketFate::kArrived);
  std::vector<PacketIndex> copies(treatment.copies);
  std::generate(copies.begin(), copies.end(), [&] { return copy(index); });
  if (treatment.holder) {
    hold(watches_[*treatment.holder], index);
  } else {
    engine_.pass_on(link, index);
  }
  for (const PacketIndex each : copies) engine_.pass_on(link, each);
  if (!treatment.holder) release_overtaken(link, identity);
}

void PacketEvents::on_timer(std::uint32_t number) {
  release(watches_[number]);
}

std::vector<Picoseconds> PacketEvents::times() const {
  std::vector<Picoseconds> times;
  for (const Watch& watch : watches_) times.push_back(watch.packet.struck());
  return times;
}

// Numbers are those of the table of packets: simulator/packets.py.
PacketIdentity PacketEvents::identify(PacketIndex index) {
  const Packet& packet = world_.pool[index];
  if (packet.kind == PacketKind::kDatagram)
    return {datagram_queue_pair_number(engine_.datagrams_.source_of(index)), PacketClass::kDatagram, 0};
  const std::uint32_t source = queue_pair_number(world_.senders[packet.qp].peer);
  if (packet.kind == PacketKind::kData)
    return {source, PacketClass::kData, engine_.reliabilities_.data_of(index).number};
  if (packet.kind != PacketKind::kAcknowledgement)
    return {source, class_of(packet.kind, false), packet_psn(packet.psn)};
  const Acknowledgement& acknowledgement = engine_.reliabilities_.acknowledgement_of(index);
  const bool is_negative = acknowledgement.is_negative;
  return {source, class_of(packet.kind, is_negative), acknowledgement.expected - (is_negative ? 0 : 1)};
}

// A packet that its sender did not count: so one less of what it sent is missing.
PacketIndex PacketEvents::copy(PacketIndex index) {
  const PacketIndex made = world_.pool.allocate();
  const Packet packet = world_.pool[made] = world_.pool[index];
  world_.ip_ids.set(made, world_.ip_ids.of(index));
  if (packet.kind == PacketKind::kDatagram) {
    engine_.datagrams_.copy(index, made);
    return made;
  }
  world_.details[made] = PacketDetails{world_.details[index]};
  engine_.reliabilities_.copy(index, made);
  engine_.controls_.copy(index, made);
  engine_.feedback_.copy(index, made);
  if (packet.kind > PacketKind::kDatagram) return made;
  Sender& origin = world_.senders[world_.senders[packet.qp].peer];
  --(is_reply(packet.kind) ? origin.missing_replies : origin.missing_packets);
  return made;
}

void PacketEvents::hold(Watch& watch, PacketIndex index) {
  watch.held = index;
  world_.held.push_back(index);
  const PacketEvent& event = watch.packet.event();
  if (event.action == PacketAction::kDelay) engine_.set_timer(watch.timer, engine_.now_ + event.delay);
}

void PacketEvents::release(Watch& watch) {
  const PacketIndex index = std::exchange(watch.held, kNoPacket);
  std::erase(world_.held, index);
  engine_.pass_on(watch.link, index);
}

void PacketEvents::release_overtaken(std::uint32_t link, const PacketIdentity& passing) {
  for (Watch& watch : watches_) {
    if (watch.held == kNoPacket || watch.link != link || !watch.packet.is_of_flow(passing)) continue;
    if (watch.packet.event().action == PacketAction::kReorder && watch.packet.is_overtaken()) release(watch);
  }
}

}  // namespace simulator
