// The packet engine with lazy links: one pending instant per link, and every port brought up to date when it
// is touched.
//
// A link has one slot in the winner tree: the arrival of its first packet in flight. No event says that a
// transmission has finished. Whoever needs a port at an instant first catches it up: everything that would
// have left until then leaves, each packet at its own past instant. Rule: catch up with the old state, then
// change, then set the link's slot again. Ties: departures, then timers, then arrivals (base/tie_break.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "base/configuration.h"
#include "engine/classed_port.h"
#include "engine/nic.h"
#include "engine/packet_pool.h"
#include "engine/port.h"
#include "engine/timer_queue.h"
#include "engine/winner_tree.h"
#include "protocol/datagram.h"
#include "protocol/framing.h"
#include "protocol/memories.h"
#include "protocol/pause_pool.h"
#include "results/mailbox.h"
#include "results/outcome.h"
#include "results/recorder.h"
#include "results/wait.h"

namespace simulator {

class Engine {
 public:
  Engine(std::uint64_t seed, const Framing& framing);

  // Topology. Hosts and switches share one numbering; a link is two directed links, 2n (a to b) and 2n + 1.
  std::uint32_t add_host(const std::string& name, const NicProfile& profile);
  std::uint32_t add_switch(const std::string& name, const SwitchConfiguration& configuration);
  std::uint32_t add_link(std::uint32_t a, std::uint32_t b, const LinkConfiguration& configuration);
  std::uint32_t connect(
      const ConnectionConfiguration& configuration);  // two queue pairs: the result and the next one
  std::uint32_t add_datagram_queue_pair(std::uint32_t host);
  std::uint32_t add_route(const std::vector<std::uint32_t>& links);

  // What host software does between two instants.
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
  void pause_switch(std::uint32_t host, bool is_pausing);  // a NIC that pauses its switch
  void receive_slowly(std::uint32_t host, const ReceiveConfiguration& configuration);
  void cut_link(std::uint32_t link, Picoseconds start, Picoseconds end);  // one direction

  RunState run(Picoseconds limit, std::uint64_t events_max);
  Picoseconds now() const { return now_; }
  Mailbox& mailbox() { return mailbox_; }

  // Memories that queue pairs may be bound to.
  std::uint32_t add_memory(std::uint32_t host, std::int64_t size, std::optional<std::uint64_t> seed) {
    return memories_.add(nodes_[host].index, size, seed);
  }
  void bind(std::uint32_t qp, std::uint32_t local, std::uint32_t remote) {
    memories_.bind(qp, local, remote, senders_[qp].nic, senders_[senders_[qp].peer].nic);
  }
  Memories& memories() { return memories_; }

  // Results.
  void sample_throughput(Picoseconds interval);
  void sample_queues(Picoseconds interval);
  Recorder& recorder() { return recorder_; }
  QueuePairFigures queue_pair_figures(std::uint32_t qp);
  std::map<std::uint32_t, Metrics> control_metrics();
  void add_open_pauses(PauseState::Records& records);
  std::vector<Counter> counters();
  std::vector<Wait> waits();
  Statistics statistics() const;
  void check_invariants();

 private:
  struct Node {
    std::string name;
    bool is_host;
    std::uint32_t index;  // into nics_ or switches_
  };

  // The far end of a link has been told to pause.
  struct Pausing {
    std::uint32_t link;
    std::uint32_t priority;
  };

  struct Switch {
    std::int64_t buffer;  // of no meaning while unbounded
    std::int64_t used = 0;
    double alpha;
    bool is_bounded;
    bool has_classes;
    std::vector<std::uint32_t> links;  // that it sends on
    PausePool pool;  // with classes, instead of `buffer` and `used`
    std::vector<PausePool> inputs;  // one for each of `links`, instead of `pool`, if it is input-queued
    bool is_input_queued;
    std::vector<MarkingConfiguration> markings;
    PriorityWeights weights;
    bool has_weights;
    std::optional<std::map<std::string, double>> rocc;
    bool has_telemetry;
    std::vector<Pausing> pausing{};
  };

  // What a link's slot in the tree waits for.
  struct Instant {
    Picoseconds at;
    bool is_departure;
  };

  struct Datagrams {
    std::unordered_map<PacketIndex, Datagram> under_way;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t missing = 0;  // lost on a link or refused by a buffer
  };

  // Events.
  void fire_link(std::uint32_t link);
  void fire_plain_link(std::uint32_t link);
  void look_ahead(std::uint32_t link);
  void ask_for_port(std::uint32_t link) const;
  void ask_for_packets(std::uint32_t link) const;
  void ask_for_way(std::uint32_t link) const;
  void fire_departure(std::uint32_t link);
  void fire_timers();
  void fire_timer(const DueTimer& due);
  void rebase();
  void set_timer_slot() { tree_.set_timers(timers_.next_instant()); }

  // Ports.
  void depart(Port& port, PacketIndex index, Picoseconds start);
  void send_before_data(std::uint32_t link, PacketIndex index);
  void start_now(std::uint32_t link, PacketIndex index);
  void catch_up(Port& port);
  void catch_up_host(Port& port);
  void catch_up_plain(Port& port);
  void catch_up_switch(Port& port);
  void catch_up_nic(Port& port);
  void enqueue_at_switch(std::uint32_t link, PacketIndex index);
  bool admits(Port& port, std::uint32_t frame_bytes);
  void drop(std::uint32_t link, PacketIndex index);
  bool loses(std::uint32_t link, PacketIndex index);
  std::uint16_t identification_of(const Port& port, PacketIndex index);
  void lose(std::uint32_t link, PacketIndex index);
  void forget(PacketIndex index);
  Picoseconds instant_of(const Port& port);
  Picoseconds expected_arrival(const Port& port);
  Picoseconds next_instant(const Port& port) {
    return port.has(Port::kClassed) ? instant_of_classed(port).at : instant_of(port);
  }
  void set_slot(std::uint32_t link);
  void arrive(std::uint32_t link, PacketIndex index);

  // Ports with priority flow control.
  void catch_up_classed(Port& port, Picoseconds until);
  void send_until(Port& port, Picoseconds until);
  bool send_in_turn(Port& port, Picoseconds until);
  bool send_verb_before(Port& port, Picoseconds other, Picoseconds until);
  void send_class(Port& port, ClassedPort& classes, std::uint32_t priority, Picoseconds start);
  void release(Port& port, PacketIndex index, Picoseconds start);
  void release_eagerly(Port& port, PacketIndex index, Picoseconds start);
  IngressAccount& ingress_of(const Packet& packet) { return ingresses_[packet.ingress]; }
  std::uint32_t link_of(const Port& port) const {
    return static_cast<std::uint32_t>(&port - ports_.data());
  }
  ClassedPort& classes_of(const Port& port) { return classes_[link_of(port)]; }
  const ClassedPort& classes_of(const Port& port) const { return classes_[link_of(port)]; }
  PausePool& pool_of(Switch& element, const IngressAccount& account) {
    return element.is_input_queued ? element.inputs[account.input] : element.pool;
  }
  void enqueue_classed(std::uint32_t link, PacketIndex index);
  bool is_refused(ClassedPort& classes, const Packet& packet);
  bool admit(std::uint32_t link, PacketIndex index);
  bool admit_exactly(std::uint32_t link, PacketIndex index);
  void drop_classed(std::uint32_t link, PacketIndex index);
  void mark(ClassedPort& classes, PacketIndex index);
  void set_eager(const Switch& element, bool is_eager);
  void pause(Switch& element, std::uint32_t link, std::uint32_t priority);
  void on_refresh_timer(std::uint32_t link);
  PriorityMask lossless_beyond(std::uint32_t link) const;
  bool is_received(std::uint32_t link, PacketIndex index);
  void on_receive_timer(std::uint32_t host);
  void watch_pauses(std::uint32_t link);
  void on_watchdog_timer(std::uint32_t link);
  void empty_queue(std::uint32_t link, std::uint32_t priority);
  void prepare_end(const std::vector<std::uint32_t>& route);
  bool is_at_its_end(std::uint32_t link, PacketIndex index);
  void flood(std::uint32_t link, PacketIndex index);
  void send_stray(std::uint32_t link, PacketIndex index);
  void tell_pauses(std::uint32_t link, Picoseconds caught_up);
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
  Picoseconds first_ready(Nic& nic);
  void send_next(Nic& nic, Port& port, Picoseconds start);
  void send_verbs(Port& port, Picoseconds until);
  PacketIndex send_write(Sender& sender, Port& port, Picoseconds start);
  PacketIndex send_described(std::uint32_t qp, Port& port, Picoseconds start);
  PacketDescription describe_next(std::uint32_t qp);
  std::uint32_t next_frame_bytes(std::uint32_t qp);
  void refresh_ready(Nic& nic, std::uint32_t limiter, Picoseconds earliest);
  void queue_up(Nic& nic, std::uint32_t qp);
  void arm_retransmit_timer(Sender& sender);
  void reconsider(std::uint32_t qp);
  void reply(PacketIndex index, const Reply& answer);
  void turn_into_reply(PacketIndex index, const Reply& answer);
  void arrive_at_host(PacketIndex index);
  void on_write(PacketIndex index);
  void on_reply(PacketIndex index);
  void on_datagram(PacketIndex index);
  void arrive_described(PacketIndex index);
  void on_message(PacketIndex index);
  void on_unreliable(PacketIndex index, bool is_operational);
  void on_read_request(PacketIndex index);
  void on_read_response(PacketIndex index);
  bool reply_after_responses(PacketIndex index, const Reply& answer);
  void forget_responses(std::uint32_t qp);
  void receive(PacketIndex index);
  void land(PacketIndex index);
  template <class Apply>
  void on_progress(std::uint32_t qp, Apply&& apply);
  void watch_departure(std::uint32_t qp);
  void on_departure_timer(std::uint32_t qp);
  void on_retransmit_timer(std::uint32_t qp);

  // Queue pairs with a reliability of their own.
  void add_reliability(std::uint32_t qp, const ConnectionConfiguration& configuration);
  void post_data(std::uint32_t qp, const Verb& verb);
  PacketIndex send_data(std::uint32_t qp, Port& port, Picoseconds start);
  void on_data(PacketIndex index);
  void on_acknowledgement(PacketIndex index);
  void send_answers(std::uint32_t qp, const CarriedTelemetry& telemetry);
  void tell_answer(std::uint32_t qp, const Acknowledgement& answer, const CarriedTelemetry& telemetry);
  void on_reliability_timer(std::uint32_t qp);
  void follow_deadline(std::uint32_t qp);
  double slowness_of(const Sender& sender) const;
  void require_resettable(std::uint32_t qp) const;
  template <class Apply>
  void change_requester(std::uint32_t qp, Apply&& apply);
  // Calls `look` with the requester of the queue pair, of whatever kind it is.
  template <class Look>
  auto with_requester(std::uint32_t qp, Look&& look) const {
    const Sender& sender = senders_[qp];
    if (sender.has_reliability) return look(*reliabilities_[qp].requester);
    return look(sender.requester);
  }
  void fail(std::uint32_t qp);
  void complete(std::uint32_t qp, const Verb& verb, VerbStatus status);
  QueuePairExtras& extras(std::uint32_t qp);
  const QueuePairExtras* extras_of(std::uint32_t qp) const {
    return qp < extras_.size() ? extras_[qp].get() : nullptr;
  }
  PacketDetails& details_of(PacketIndex index);

  // Congestion controls in NICs.
  void on_marked(PacketIndex index);
  void on_notification(PacketIndex index);
  void on_controlled_sent(std::uint32_t qp, PacketIndex index, Picoseconds start);
  Controller& informed_controller(std::uint32_t qp);
  void set_untold_max(std::uint32_t qp);
  void on_controlled_reply(const Packet& packet, Stamp stamp, Telemetry telemetry);
  Telemetry telemetry_of(PacketIndex index) const;
  CarriedTelemetry carried_telemetry(std::uint32_t qp, PacketIndex index) const;
  void carry_telemetry(PacketIndex index, const Telemetry& telemetry);
  void on_control_timer(std::uint32_t qp);
  void watch_congestion(const ClassedPort& classes);
  void on_congestion_timer(std::uint32_t link);
  void tell_sources(std::uint32_t link, std::uint32_t priority, BitsPerSecond rate);
  void send_feedback(std::uint32_t link, std::uint32_t qp, BitsPerSecond rate);
  void on_feedback(PacketIndex index);
  void write_telemetry(const Port& port, PacketIndex index, Picoseconds start);
  bool follow_control(std::uint32_t qp, Picoseconds at);
  bool follow_window(std::uint32_t qp);
  void watch_control(std::uint32_t qp);
  void require_uncontrolled(std::uint32_t qp, const char* what) const;
  Bytes payload_of(const Packet& packet) const;
  Bytes delivered_by(std::uint32_t qp) const;
  template <class Change>
  void change_nic(std::uint32_t link, Change&& change);

  // Set-up. Links have their slots in the tree from the first connection on.
  bool is_connected() const { return is_complete_; }
  void complete_topology();
  std::uint16_t speed_index(const LinkConfiguration& configuration);
  bool has_flow_control(std::uint32_t node) const;
  bool has_marking(std::uint32_t node) const;
  bool has_pool(std::uint32_t node) const;
  bool is_input_queued(std::uint32_t node) const {
    return !nodes_[node].is_host && switches_[nodes_[node].index].is_input_queued;
  }
  static void add_input(Switch& element, ClassedPort& classes, IngressAccount& ingress);
  void add_classes(Port& port, std::uint32_t from, std::uint32_t to, Bytes headroom);
  void add_control(std::uint32_t qp, const ConnectionConfiguration& configuration);
  void add_port(std::uint32_t from, std::uint32_t to, const LinkConfiguration& configuration, Bytes headroom);
  void add_queue_pair(std::uint32_t host, std::uint32_t peer, const std::vector<std::uint32_t>& route,
                      const ConnectionConfiguration& configuration);
  std::uint32_t add_limiter(Nic& nic);
  std::uint32_t limiter_for(Nic& nic, const ConnectionConfiguration& configuration);

  // Results.
  void catch_up_link(std::uint32_t link);
  void catch_up_all();
  void on_throughput_timer();
  void on_queue_timer();
  std::string port_name(std::uint32_t link) const;
  Bytes received_bytes(std::uint32_t link) const;
  void sample_queue(std::uint32_t link, std::int64_t now_ns);
  std::vector<std::uint32_t> ports_behind(std::uint32_t link, std::uint32_t priority) const;
  void add_class_counters(std::uint32_t link, std::vector<Counter>& result) const;
  Bytes waiting_bytes_of(const Port& port) const;
  void check_buffers() const;
  void check_accounts() const;
  void check_inputs() const;
  void check_queue_pairs() const;
  std::uint64_t packets_taken_from(std::uint32_t qp) const;
  RequesterCounters counters_of(std::uint32_t qp) const {
    return with_requester(qp, [](const auto& requester) { return requester.counters(); });
  }
  Bytes posted_by(std::uint32_t qp) const {
    return with_requester(qp, [](const auto& requester) { return requester.posted_bytes(); });
  }
  void check_datagrams() const;

  WinnerTree tree_;
  Picoseconds now_;
  Picoseconds horizon_;  // run() stops in front of the first event after it
  Framing framing_;
  std::uint64_t seed_;
  PacketPool pool_;
  std::vector<Port> ports_;
  std::vector<LinkSpeed> speeds_;
  std::vector<std::uint32_t> routes_;  // link numbers, route after route
  std::map<std::uint32_t, std::uint32_t> floods_;  // by link: first entry of the routes of what is flooded
  std::vector<Sender> senders_;
  std::vector<Receiver> receivers_;
  std::vector<std::unique_ptr<QueuePairExtras>> extras_;
  std::vector<Reliability> reliabilities_;         // by queue pair, if any has one
  std::vector<DataPacket> data_packets_;           // by packet, of those that are kData
  std::vector<Acknowledgement> acknowledgements_;  // by packet, of those that are
  std::vector<PacketDetails> details_;  // by packet, of those that have any
  std::vector<Stamp> stamps_;           // by packet, if any control wants answers
  std::vector<Telemetry> telemetry_;    // by packet, if any control wants it
  std::vector<Nic> nics_;
  std::vector<Limiter> limiters_;
  std::vector<RandomStream> lags_;  // one per limiter
  std::vector<Switch> switches_;
  std::vector<ClassedPort> classes_;       // by link, up to the last that has one
  std::vector<IngressAccount> ingresses_;  // as those: what came in over the link the other way
  std::vector<ControlledQueuePair> controlled_;  // by queue pair, if any is
  PriorityMask priorities_ = 1;                  // that connections use
  std::vector<std::uint32_t> datagram_hosts_;    // NIC of each datagram queue pair
  Datagrams datagrams_;
  Memories memories_;
  bool is_complete_ = false;
  bool looks_ahead_ = false;
  bool counts_identifications_ = false;
  std::vector<std::uint16_t> identifications_;  // by packet
  std::uint64_t packet_hops_ = 0;
  std::uint64_t events_ = 0;
  TimerQueue timers_;
  Mailbox mailbox_;
  Recorder recorder_;
  std::vector<Node> nodes_;
  std::vector<LinkRecord> links_;
  std::uint32_t throughput_timer_;
  std::uint32_t queue_timer_;
  Picoseconds throughput_interval_;
  Picoseconds queue_interval_;
  std::vector<Bytes> delivered_sampled_;  // by queue pair
};

}  // namespace simulator
