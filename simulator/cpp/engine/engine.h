// The packet engine with lazy links: one pending instant per link, and every port brought up to date when it
// is touched.
//
// A link has one slot in the winner tree: the arrival of its first packet in flight. There is no event when a
// transmission has finished. Code that needs a port at an instant first catches the port up: everything that
// would have left until then leaves, each packet at its own past instant. Rule: catch up with the old state, then
// change, then set the link's slot again. Ties: departures, then timers, then arrivals (base/random_stream.h).
//
// Switches run ahead of everybody else, by as much as the links that lead to them take (engine_ahead.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/configuration.h"
#include "engine/builder.h"
#include "engine/controls.h"
#include "engine/credits.h"
#include "engine/datagrams.h"
#include "engine/faults.h"
#include "engine/forwarding.h"
#include "engine/packet_events.h"
#include "engine/prefetch.h"
#include "engine/reliabilities.h"
#include "engine/samplers.h"
#include "engine/timer_queue.h"
#include "engine/winner_tree.h"
#include "engine/world.h"
#include "protocol/framing.h"
#include "protocol/memories.h"
#include "protocol/queue_pair.h"
#include "results/delivery_watch.h"
#include "results/mailbox.h"
#include "results/packet_log.h"
#include "results/recorder.h"

namespace simulator {

class Engine {
 public:
  Engine(std::uint64_t seed, const Framing& framing);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Topology. Hosts and switches share one numbering; a link is two directed links, 2n (a to b) and 2n + 1.
  std::uint32_t add_host(const std::string& name, const NicProfile& profile) {
    return builder_.add_host(name, profile);
  }
  std::uint32_t add_switch(const std::string& name, const SwitchConfiguration& configuration) {
    return builder_.add_switch(name, configuration);
  }
  std::uint32_t add_link(std::uint32_t a, std::uint32_t b, const LinkConfiguration& configuration) {
    return builder_.add_link(a, b, configuration);
  }
  std::uint32_t connect(
      const ConnectionConfiguration& configuration);  // two queue pairs: the result and the next one
  std::uint32_t add_datagram_queue_pair(std::uint32_t host);
  std::uint32_t add_route(const std::vector<std::uint32_t>& links);
  std::vector<std::uint32_t> find_route(std::uint32_t source, std::uint32_t destination,
                                        std::uint64_t entropy) {
    return forwarding_.route(source, destination, entropy);
  }

  // Operations of host software between two instants.
  std::int64_t post(std::uint32_t qp, const Verb& verb);
  void post_datagram(Datagram datagram);
  void reset(std::uint32_t qp);
  void ready(std::uint32_t qp, std::uint32_t sq_psn, std::uint32_t rq_psn);
  BitsPerSecond set_rate(std::uint32_t qp, BitsPerSecond rate);
  void use_limiter(std::uint32_t qp, std::uint32_t limiter);
  std::int64_t nic_clock_ns(std::uint32_t qp) const;
  double nic_clock_at(std::uint32_t qp, Picoseconds at) const;
  Picoseconds left_nic(std::uint32_t qp, std::uint64_t wr_id);
  std::uint32_t create_timer();
  void set_timer(std::uint32_t timer, Picoseconds at);
  void cancel_timer(std::uint32_t timer);
  void call_once(std::uint32_t call, Picoseconds at);
  void call_when_delivered(std::uint32_t qp, Bytes delivered, std::uint32_t call);
  void inject(const Fault& fault) { faults_.inject(fault); }

  // No switch comes to that instant before anybody else does.
  void keep_in_step_at(Picoseconds at);
  void require_no_switch_ahead(const char* what, Picoseconds at) const;
  // From how many ports on switches run ahead: it changes no result.
  void run_ahead_from(std::size_t ports) { runs_ahead_from_ports_ = ports; }

  RunState run(Picoseconds limit, std::uint64_t events_max);
  Picoseconds now() const { return now_; }
  Mailbox& mailbox() { return mailbox_; }

  // Memories that queue pairs may be bound to.
  std::uint32_t add_memory(std::uint32_t host, std::int64_t size, std::optional<std::uint64_t> seed) {
    return memories_.add(world_.nodes[host].index, size, seed);
  }
  void bind(std::uint32_t qp, std::uint32_t local, std::uint32_t remote) {
    memories_.bind(qp, local, remote, world_.senders[qp].nic, world_.senders[world_.senders[qp].peer].nic);
  }
  Memories& memories() { return memories_; }

  // Results.
  void sample_throughput(Picoseconds interval);
  void sample_queues(Picoseconds interval);
  void record_packets(const PacketLogSettings& settings);
  Recorder& recorder() { return recorder_; }
  std::vector<Picoseconds> packet_event_times() const { return packet_events_.times(); }
  QueuePairFigures queue_pair_figures(std::uint32_t qp);
  std::map<std::uint32_t, Metrics> control_metrics() { return controls_.metrics(); }
  void add_open_interval(std::vector<DeliverySample>& rows) const { samplers_.add_throughput(rows, now_); };
  void add_open_pauses(PauseState::Records& records) const;
  std::vector<Counter> counters();
  std::vector<Wait> waits();
  Statistics statistics() const;
  void check_invariants();

 private:
  // These parts keep state and reach into the engine where packets meet them.
  friend class NicControls;
  friend class PacketEvents;
  friend class Credits;
  friend class Faults;
  friend class Feedback;
  friend class Reliabilities;
  friend class RouteEnds;

  // The instant that a link's slot in the tree waits for.
  struct Instant {
    Picoseconds at;
    bool is_departure;
  };

  // Events.
  void fire_link(std::uint32_t link);
  void fire_plain_link(std::uint32_t link);
  void fire_departure(std::uint32_t link);
  void fire_timers();
  void fire_timer(const DueTimer& due);
  void rebase();
  void set_timer_slot() { tree_.set_timers(timers_.next_instant()); }

  // Switches that run ahead.
  void prepare_running_ahead();
  void run_ahead(std::uint32_t link);
  Picoseconds may_run_until(const Switch& element);
  bool has_departed_by(const Port& port, Picoseconds at) const;

  // Ports.
  void depart(Port& port, PacketIndex index, Picoseconds start);
  void send_before_data(std::uint32_t link, PacketIndex index);
  void send_later(std::uint32_t link, PacketIndex index, Picoseconds delay);
  void on_late_reply(PacketIndex index);
  void start_now(std::uint32_t link, PacketIndex index);
  void catch_up(Port& port);
  void catch_up_host(Port& port);
  void catch_up_plain(Port& port);
  void catch_up_switch(Port& port);
  void catch_up_nic(Port& port);
  void enqueue_at_switch(std::uint32_t link, PacketIndex index);
  bool admits(Port& port, std::uint32_t frame_bytes);
  void drop(std::uint32_t link, PacketIndex index, PacketFate fate);
  bool loses(std::uint32_t link, PacketIndex index);
  void lose(std::uint32_t link, PacketIndex index, PacketFate fate);
  void forget(PacketIndex index);
  Picoseconds instant_of(const Port& port);
  Picoseconds expected_arrival(const Port& port);
  Picoseconds next_instant(const Port& port) {
    return port.has(Port::kClassed) ? instant_of_classed(port).at : instant_of(port);
  }
  void set_slot(std::uint32_t link);
  PacketIndex take_arrived(Port& port, std::uint32_t link);
  void arrive(std::uint32_t link, PacketIndex index);
  void arrive_at_switch(std::uint32_t link, PacketIndex index);
  void pass_on(std::uint32_t link, PacketIndex index);
  void take_pause_frame(std::uint32_t link, PacketIndex index);
  std::uint32_t next_link(std::uint32_t link, PacketIndex index);
  bool ends_on_arrival(std::uint32_t link, PacketIndex index);
  void record(std::uint32_t link, PacketIndex index, PacketFate fate) { record(link, index, fate, now_); }
  void record(std::uint32_t link, PacketIndex index, PacketFate fate, Picoseconds refused);
  void describe(const Packet& packet, PacketIndex index, PacketRecord& record);

  // Parts of switches from outside.
  rogue::PacketSeen seen(PacketIndex index);
  rogue::Verdict run_arrival_aqm(const Port& port, PacketIndex index);
  bool may_depart(const Port& port, PacketIndex index, Picoseconds start);
  void depart_with_aqm(Port& port, PacketIndex index, Picoseconds start);
  void enqueue_with_aqm(std::uint32_t link, PacketIndex index, bool must_set_slot);
  void send_with_aqm(Port& port, ClassedPort& classes, std::uint32_t priority, Picoseconds start);
  void drop_by_aqm(std::uint32_t link, PacketIndex index, Picoseconds at);
  std::uint32_t select_port(std::uint32_t link, PacketIndex index);

  // Ports with priority flow control.
  void catch_up_classed(Port& port, Picoseconds until);
  void send_until(Port& port, Picoseconds until);
  bool send_in_turn(Port& port, Picoseconds until);
  bool send_verb_before(Port& port, Picoseconds other, Picoseconds until);
  void send_class(Port& port, ClassedPort& classes, std::uint32_t priority, Picoseconds start);
  void release(Port& port, PacketIndex index, Picoseconds start);
  void release_eagerly(Port& port, PacketIndex index, Picoseconds start);
  void enqueue_classed(std::uint32_t link, PacketIndex index);
  std::uint32_t trim_if_it_waits(std::uint32_t link, PacketIndex index);
  bool trim_newest(std::uint32_t link, PacketIndex index);
  bool can_be_trimmed(PacketIndex index);
  bool is_refused(ClassedPort& classes, const Packet& packet);
  bool admit(std::uint32_t link, PacketIndex index);
  bool admit_exactly(std::uint32_t link, PacketIndex index);
  void drop_classed(std::uint32_t link, PacketIndex index, PacketFate fate);
  void mark(ClassedPort& classes, PacketIndex index);
  void set_mark(ClassedPort& classes, PacketIndex index);
  void cut(const Port& port, PacketIndex index);
  void set_eager(const Switch& element, bool is_eager);
  void pause(Switch& element, std::uint32_t link, std::uint32_t priority);
  void on_refresh_timer(std::uint32_t link);
  void send_stray(std::uint32_t link, PacketIndex index);
  void announce_pauses(std::uint32_t link, Picoseconds caught_up);
  void send_pause_frame(Port& port, Picoseconds start);
  void on_pause_frame(std::uint32_t link, PacketIndex index);
  void sort_paused(Port& port);
  bool is_paused(const Sender& sender) const;
  Picoseconds first_resumption(const Port& port) const;
  Instant instant_of_classed(const Port& port);
  void set_slot_classed(std::uint32_t link);
  void set_slot_of_special(std::uint32_t link);
  void fire_classed_link(std::uint32_t link);

  // NICs.
  void stop_if_hosts_wait();
  Picoseconds first_ready(Nic& nic);
  void send_next(Nic& nic, Port& port, Picoseconds start);
  void send_verbs(Port& port, Picoseconds until);
  PacketIndex send_write(Sender& sender, Port& port, Picoseconds start);
  std::uint32_t first_position(std::uint32_t qp);
  PacketIndex send_described(std::uint32_t qp, Port& port, Picoseconds start);
  PacketDescription describe_next(std::uint32_t qp);
  std::uint32_t next_frame_bytes(std::uint32_t qp);
  void refresh_ready(Nic& nic, std::uint32_t limiter, Picoseconds earliest);
  void queue_up(Nic& nic, std::uint32_t qp);
  void arm_retransmit_timer(Sender& sender);
  void reconsider(std::uint32_t qp);
  void hold_back_resent(std::uint32_t qp);
  void turn_into_reply(PacketIndex index, const Reply& reply);
  void arrive_at_host(PacketIndex index);
  void on_write(PacketIndex index);
  void on_reply(PacketIndex index);
  void on_datagram(PacketIndex index);
  void arrive_described(PacketIndex index);
  void on_message(PacketIndex index);
  void on_unreliable(PacketIndex index, bool is_operational);
  void on_read_request(PacketIndex index);
  void on_read_response(PacketIndex index);
  bool reply_after_responses(PacketIndex index, const Reply& reply);
  void forget_responses(std::uint32_t qp);
  void receive(PacketIndex index);
  void store_payload(PacketIndex index);
  void check_delivery(std::uint32_t receiver);
  template <class Apply>
  void on_progress(std::uint32_t qp, Apply&& apply);
  void watch_departure(std::uint32_t qp);
  void on_departure_timer(std::uint32_t qp);
  void on_retransmit_timer(std::uint32_t qp);
  void fail(std::uint32_t qp);
  void complete(std::uint32_t qp, const Verb& verb, VerbStatus status);
  void queue_completion(std::uint32_t qp, CompletionLine line, Picoseconds pci, Completion completion);
  void deliver_completions(std::uint32_t qp);

  template <class Change>
  void change_nic(std::uint32_t link, Change&& change);

  // Set-up.
  void complete_topology();
  void add_queue_pair(std::uint32_t host, std::uint32_t peer, const std::vector<std::uint32_t>& route,
                      const ConnectionConfiguration& configuration);
  std::uint32_t limiter_for(Nic& nic, const ConnectionConfiguration& configuration);
  void spray(std::uint32_t qp, const std::vector<std::uint32_t>& route,
             const ConnectionConfiguration& configuration);
  void reroute(const std::vector<std::uint32_t>& left_out);

  // Results.
  void catch_up_link(std::uint32_t link);
  void catch_up_all();

  WinnerTree tree_;
  Picoseconds now_;
  Picoseconds horizon_;  // run() stops in front of the first event after it: then host software is called
  World world_;
  std::uint64_t packet_hops_ = 0;
  std::uint64_t events_ = 0;
  bool is_complete_ = false;  // links have their slots in the tree: from the first connection on
  bool runs_ahead_ = false;
  // With 18 ports, as in W1, running ahead costs 7 %; with 324, as in W2, it gains 18.
  std::size_t runs_ahead_from_ports_ = 300;
  bool prefetches_ = false;
  bool is_recording_ = false;
  Picoseconds ahead_;  // the latest instant that any switch has come to
  std::set<Picoseconds> in_step_at_;
  TimerQueue timers_;
  Mailbox mailbox_;
  LateCompletions late_completions_;
  DeliveryWatch deliveries_;
  Recorder recorder_;
  Memories memories_;
  Datagrams datagrams_;
  Samplers samplers_;
  Builder builder_;
  NicControls controls_;
  Feedback feedback_;
  PacketEvents packet_events_;
  Faults faults_;
  Reliabilities reliabilities_;
  Credits credits_;
  RouteEnds route_ends_;
  Forwarding forwarding_;
  LookAhead look_ahead_;
  std::vector<rogue::EqualPort> equal_;  // the ports that a plug-in chooses among, reused per packet
};

}  // namespace simulator
