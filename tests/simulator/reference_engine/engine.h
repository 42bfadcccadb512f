// An eager engine, for tests: every packet is an event in a heap, two events per link, the simplest code that
// is right.
//
// It shares the protocol (requester, responder, limiter, clock, framing) with the fast engine, and has its
// own event queue, ports, switches, NIC arbitration and timers. Same order of events at one instant:
// departures, then timers in the order they were created, then arrivals (base/random_stream.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/configuration.h"
#include "base/random_stream.h"
#include "catalogue/reliabilities.h"
#include "cc/controller.h"
#include "cc/rocc.h"
#include "cc/switch_control.h"
#include "protocol/fault.h"
#include "protocol/framing.h"
#include "protocol/limiter.h"
#include "protocol/memories.h"
#include "protocol/nic_timing.h"
#include "protocol/path_hash.h"
#include "protocol/pause_state.h"
#include "protocol/queue_pair.h"
#include "protocol/rc_requester.h"
#include "protocol/responders.h"
#include "protocol/response_queue.h"
#include "protocol/shared_buffer.h"
#include "reference_engine/packet.h"
#include "reliability/credits.h"
#include "results/delivery_watch.h"
#include "results/mailbox.h"
#include "results/recorder.h"

namespace simulator::reference {

class Engine {
 public:
  Engine(std::uint64_t seed, const Framing& framing) : seed_(seed), tie_break_(seed), framing_(framing) {}

  std::uint32_t add_host(const std::string& name, const NicProfile& profile);
  std::uint32_t add_switch(const std::string& name, const SwitchConfiguration& configuration);
  std::uint32_t add_link(std::uint32_t a, std::uint32_t b, const LinkConfiguration& configuration);
  std::uint32_t connect(const ConnectionConfiguration& configuration);
  std::uint32_t add_datagram_queue_pair(std::uint32_t host);
  std::uint32_t add_route(const std::vector<std::uint32_t>& links);
  std::vector<std::uint32_t> find_route(std::uint32_t source, std::uint32_t destination,
                                        std::uint64_t entropy);

  std::int64_t post(std::uint32_t qp, const Verb& verb);
  double nic_clock_at(std::uint32_t qp, Picoseconds at) const { return node_of(qp).clock.exact_ns(at); }
  Picoseconds left_nic(std::uint32_t qp, std::uint64_t wr_id) const;
  void post_datagram(Datagram datagram);
  void reset(std::uint32_t qp);
  void ready(std::uint32_t qp, std::uint32_t sq_psn, std::uint32_t rq_psn);
  void inject(const Fault& fault);
  void keep_in_step_at(Picoseconds /*at*/) {}  // switches never run ahead
  void require_no_switch_ahead(const char* /*what*/, Picoseconds /*at*/) const {}
  void run_ahead_from(std::size_t /*ports*/) {}
  BitsPerSecond set_rate(std::uint32_t qp, BitsPerSecond rate);
  void use_limiter(std::uint32_t qp, std::uint32_t limiter);
  std::int64_t nic_clock_ns(std::uint32_t qp) const { return node_of(qp).clock.read_ns(now_); }
  std::uint32_t create_timer();
  void set_timer(std::uint32_t timer, Picoseconds at);
  void cancel_timer(std::uint32_t timer) { timers_[timer].deadline = kNever; }
  void call_once(std::uint32_t call, Picoseconds at);
  void call_when_delivered(std::uint32_t qp, Bytes delivered, std::uint32_t call);

  std::uint32_t add_memory(std::uint32_t host, std::int64_t size, std::optional<std::uint64_t> seed) {
    return memories_.add(host, size, seed);
  }
  void bind(std::uint32_t qp, std::uint32_t local, std::uint32_t remote) {
    const QueuePair& own = queue_pairs_[qp];
    memories_.bind(qp, local, remote, own.node, queue_pairs_[own.peer].node);
  }
  Memories& memories() { return memories_; }

  RunState run(Picoseconds limit, std::uint64_t events_max);
  Picoseconds now() const { return now_; }
  Mailbox& mailbox() { return mailbox_; }

  void sample_throughput(Picoseconds interval);
  void sample_queues(Picoseconds interval);
  void record_packets(const PacketLogSettings& settings) { recorder_.packets.open(settings); }
  Recorder& recorder() { return recorder_; }
  std::vector<Picoseconds> packet_event_times() const;
  QueuePairFigures queue_pair_figures(std::uint32_t qp) const;
  std::map<std::uint32_t, Metrics> control_metrics() const;
  void add_open_interval(std::vector<DeliverySample>& rows) const;
  void add_open_pauses(PauseState::Records& records) const;
  std::vector<Counter> counters() const;
  std::vector<Wait> waits() const;
  Statistics statistics() const;
  void check_invariants() const;

 private:
  struct Injection;  // what each fault does
  enum class EventKind { kDeparture, kTimer, kArrival };

  struct Event {
    Picoseconds at;
    EventKind kind;
    std::uint64_t order;  // place and number of an arriving link, or order of the timer's creation
    std::uint32_t link;
    std::uint32_t timer;
    Packet packet;
    friend bool operator>(const Event& a, const Event& b) {
      return std::tie(a.at, a.kind, a.order) > std::tie(b.at, b.kind, b.order);
    }
  };

  enum class TimerKind {
    kRetransmit,
    kSampleThroughput,
    kSampleQueues,
    kRefreshPause,
    kWatchdog,
    kReceive,
    kPacketEvent,
    kLateReply,
    kControl,
    kCongestionPoint,
    kCredit,
    kCompletion,
    kHost,
    kOnce
  };

  struct Timer {
    TimerKind kind;
    std::uint32_t subject;
    std::uint64_t order;
    Picoseconds deadline = kNever;
  };

  struct Node {
    std::string name;
    bool is_host;
    NicProfile profile;
    NicClock clock;
    PciDelay pci;
    std::uint16_t next_ip_id;
    SwitchConfiguration configuration;
    SharedBuffer shared_buffer{SwitchConfiguration{}};  // with flow control, instead of `used`
    std::int64_t used = 0;
    std::shared_ptr<SwitchControl> port_selector{};
    std::vector<Limiter> limiters;
    std::vector<RandomStream> lags;
    std::vector<std::uint32_t> queue_pairs;
    std::uint64_t served = 0;
    std::optional<ReceiveBuffer> receive_buffer{};
    std::uint32_t receive_timer = 0;
    std::uint32_t lent = 0;  // queue pairs that use the limiter of another one
    std::shared_ptr<CreditPacer> credits{};
    std::uint32_t credit_timer = 0;
    std::shared_ptr<ReceiverControl> receiver_control{};  // from outside, in the place of `credits`
    std::vector<std::uint32_t> receivers{};               // queue pairs with credits, in order
  };

  using Queue = reference::Queue;
  using Link = reference::Link;

  struct QueuePair {
    RcRequester requester;
    RcResponder responder;
    Route route;
    Route feedback_route;  // the same, backwards
    std::uint32_t node;
    std::uint32_t peer;
    std::uint32_t limiter;
    std::uint32_t timer;
    Picoseconds ready;
    std::uint64_t served = 0;
    Bytes delivered_sampled;
    QueuePairState state = QueuePairState::kReadyToSend;
    std::uint32_t priority = 0;
    bool is_unreliable = false;
    UcResponder unreliable{};
    ResponseQueue responses{};
    bool has_responded = false;
    std::uint64_t receives = 0;
    std::shared_ptr<Controller> controller{};
    std::uint64_t recoveries = 0;  // without a Reliability: one for each NAK
    std::uint32_t control_timer = 0;
    std::uint32_t cnp_priority = 0;
    BitsPerSecond control_rate{};
    Picoseconds next_cnp{};
    std::int64_t cnps_sent = 0;
    std::int64_t cnps_received = 0;

    std::optional<ObliviousSpray> spray{};
    std::uint64_t path_seed = 0;

    std::shared_ptr<Reliability> reliability{};  // if set, `requester` and `responder` are idle

    bool has_packet() const {
      if (reliability) return state == QueuePairState::kReadyToSend && reliability->requester->has_packet();
      return requester.has_packet() || !responses.empty();
    }
    bool is_response_next() const { return !responses.empty() && !(has_responded && requester.has_packet()); }
  };

  struct Watch {
    PacketWatch packet;
    std::uint32_t link;
    std::uint32_t timer;
    std::optional<Packet> held{};
  };

  Node& node_of(std::uint32_t qp) { return nodes_[queue_pairs_[qp].node]; }
  const Node& node_of(std::uint32_t qp) const { return nodes_[queue_pairs_[qp].node]; }
  Limiter& limiter_of(std::uint32_t qp) { return node_of(qp).limiters[queue_pairs_[qp].limiter]; }
  void add_direction(std::uint32_t from, std::uint32_t to, const LinkConfiguration& configuration,
                     Bytes headroom);
  bool has_flow_control(std::uint32_t node) const {
    return !nodes_[node].is_host && nodes_[node].configuration.pause.has_value();
  }
  void add_queue_pair(std::uint32_t host, std::uint32_t peer, const std::vector<std::uint32_t>& route,
                      const ConnectionConfiguration& configuration);
  void add_limiter(Node& node);
  std::uint32_t limiter_for(std::uint32_t host, const ConnectionConfiguration& configuration);
  const std::vector<std::uint32_t>& route_of(const Packet& packet) const;
  void give_route(Packet& packet) const;
  void turn_to(std::uint32_t next, Packet& packet);
  void reroute(const std::vector<std::uint32_t>& left_out);
  std::uint32_t add_timer(TimerKind kind, std::uint32_t subject);

  void fire(const Event& event);
  void fire_timer(const Event& event);
  void send_if_possible(std::uint32_t link);
  void send_from_queue_pair(std::uint32_t link);
  void start(std::uint32_t link, Packet packet);
  void arrive(std::uint32_t link, Packet packet);
  void send_later(std::uint32_t link, const Packet& packet, Picoseconds delay);
  void send_late_reply(std::uint32_t number);
  Picoseconds& next_cnp(std::uint32_t qp);
  void pass_on(std::uint32_t number, Packet packet);
  bool has_event(std::uint32_t number) const;
  PacketIdentity identify(const Packet& packet) const;
  void apply_events(std::uint32_t number, Packet packet);
  void release_held(Watch& watch);
  void record(std::uint32_t link, const Packet& packet, PacketFate fate);
  void describe(const Packet& packet, PacketRecord& record) const;
  void enqueue(std::uint32_t link, Packet packet);
  void prepare_end(const std::vector<std::uint32_t>& route);
  std::uint32_t next_path(std::uint32_t qp);
  void add_spray(std::uint32_t qp, const ConnectionConfiguration& configuration);
  const std::vector<std::int64_t>& hops_to(std::uint32_t host, bool over_all);
  bool is_excluded(std::uint32_t link) const { return excluded_.contains(link / 2); }
  void spray(Packet& packet, std::uint32_t path);
  void end_route(std::uint32_t link, const Packet& packet, std::uint32_t end);
  std::vector<std::uint32_t> flooded_ports(std::uint32_t link) const;
  void store(std::uint32_t number, Packet packet);
  void trim_if_full(std::uint32_t number, Packet& packet);
  bool trim_newest(std::uint32_t number, const Packet& packet);
  void cut(Link& link, Packet& packet);
  rogue::PacketSeen seen(const Packet& packet) const;
  std::shared_ptr<SwitchControl> judge_for(const Link& link) const;
  static std::int64_t waiting_bytes(const Link& link);
  rogue::Verdict run_arrival_aqm(Link& link, Packet& packet);
  bool may_depart(Link& link, Packet& packet);
  void refuse(Link& link, std::uint32_t number, const Packet& packet, PacketFate fate);
  void choose(std::uint32_t number, Packet& packet);
  std::vector<std::uint32_t> equal_ports(std::uint32_t node, std::uint32_t destination);
  std::vector<std::uint32_t> way_from(std::uint32_t node, std::uint32_t qp, std::uint32_t path);
  std::vector<std::uint32_t> hashed_way(std::uint32_t node, std::uint32_t destination, const PathHash& hash,
                                        std::uint64_t entropy);
  bool admits(const Link& link, std::uint32_t frame_bytes) const;
  bool has_shared_buffer(std::uint32_t node) const {
    return !nodes_[node].is_host && nodes_[node].configuration.has_classes();
  }
  void mark(Link& link, Packet& packet);
  void send_cnp(std::uint32_t qp);
  void on_cnp(std::uint32_t qp);
  void on_control_timer(std::uint32_t qp);
  void watch_congestion(Link& link);
  void on_congestion_timer(std::uint32_t number);
  void send_fair_rates(std::uint32_t number, const Queue& queue, BitsPerSecond rate);
  void on_feedback(std::uint32_t qp, const Packet& packet);
  void write_telemetry(const Link& link, Packet& packet) const;
  void follow_control(std::uint32_t qp);
  void apply_window(QueuePair& queue_pair);
  bool follow_rate(std::uint32_t qp);
  void tell_acknowledgement(std::uint32_t qp, const Packet& packet);
  void watch_control(std::uint32_t qp);
  void require_uncontrolled(std::uint32_t qp, const char* what) const;
  void add_control(std::uint32_t qp, const ConnectionConfiguration& configuration);
  Queue* next_queue(Link& link);
  Packet take(Link& link, Queue& queue);
  std::deque<Packet>::const_iterator next_of(const Link& link, const Queue& queue) const;
  std::uint32_t link_before(const Packet& packet) const { return route_of(packet)[packet.hop - 1]; }
  SharedBuffer& buffer_at(std::uint32_t number);
  bool admit(Link& link, const Packet& packet);
  void release(std::uint32_t element, const Packet& packet);
  IngressAccount& ingress_of(const Packet& packet) {
    return links_[reverse_of(route_of(packet)[packet.hop - 1])].ingress;
  }
  void pause(std::uint32_t number, std::uint32_t priority);
  void tell_pauses(std::uint32_t number);
  void send_pause_frame(std::uint32_t number);
  void on_pause_frame(std::uint32_t number, const PauseFrame& frame);
  void on_refresh_timer(std::uint32_t number);
  void pause_switch(std::uint32_t host, bool is_pausing);
  bool is_received(std::uint32_t host, std::uint32_t frame_bytes);
  void on_receive_timer(std::uint32_t host);
  void watch_pauses(std::uint32_t number);
  void on_watchdog_timer(std::uint32_t number);
  void empty_queue(std::uint32_t number, std::uint32_t priority);
  void add_class_counters(std::uint32_t number, std::vector<Counter>& result) const;
  void receive(const Packet& packet);
  void on_request(std::uint32_t qp, const Packet& packet);
  Reply accept(std::uint32_t qp, const Packet& packet);
  void store_payload(std::uint32_t qp, const Packet& packet);
  void receive_message(std::uint32_t qp, const Packet& packet);
  void check_delivery(std::uint32_t receiver);
  PacketDescription describe_next(const QueuePair& queue_pair) const;
  void on_described_sent(QueuePair& sender, const PacketDescription& packet, Picoseconds end);
  Bytes payload_of(const Packet& packet) const;
  Bytes delivered_by(std::uint32_t qp) const;
  void follow_departures(std::uint32_t qp);
  void on_departure_timer(std::uint32_t qp);
  void on_reply(std::uint32_t qp, const Packet& packet);
  template <class Look>
  auto with_requester(std::uint32_t qp, Look&& look) const {
    const QueuePair& queue_pair = queue_pairs_[qp];
    if (queue_pair.reliability) return look(std::as_const(*queue_pair.reliability->requester));
    return look(queue_pair.requester);
  }
  bool is_idle(std::uint32_t qp) const {
    return with_requester(qp, [](const auto& requester) { return requester.is_idle(); });
  }
  RequesterCounters counters_of(std::uint32_t qp) const {
    return with_requester(qp, [](const auto& requester) { return requester.counters(); });
  }
  void add_reliability(std::uint32_t qp, const ConnectionConfiguration& configuration);
  Packet next_packet(std::uint32_t qp) const;
  void on_packet_sent(std::uint32_t qp, const Packet& packet, Picoseconds end);
  void on_data(std::uint32_t qp, const Packet& packet);
  void on_acknowledgement(std::uint32_t qp, const Packet& packet);
  void send_acknowledgements(std::uint32_t qp, const std::vector<HopRecord>& hops);
  void on_reliability_timer(std::uint32_t qp);
  void add_credits(std::uint32_t qp, const ConnectionConfiguration& configuration);
  std::int64_t rivals_at(const Node& node) const;
  void follow_credits(std::uint32_t qp);
  void tell_received(std::uint32_t qp, rogue::Received received);
  void ask_receiver_control(Node& node);
  void grant_what_is_due(std::uint32_t host);
  void grant_turn(Node& node);
  void check_credits() const;
  void follow_both_deadlines(std::uint32_t qp);
  template <class Apply>
  void change_requester(std::uint32_t qp, Apply&& apply);
  void on_datagram(const Datagram& datagram);
  bool apply_reply(std::uint32_t qp, const Packet& packet);
  void on_retransmit_timer(std::uint32_t qp);
  void set_deadline_timer(std::uint32_t qp);
  void fail(std::uint32_t qp);
  void complete(std::uint32_t qp, const Verb& verb, VerbStatus status);
  void queue_completion(std::uint32_t qp, CompletionLine line, Picoseconds pci, Completion completion);
  void on_throughput_timer();
  void on_queue_timer();
  std::vector<std::uint32_t> ports_behind(std::uint32_t number, std::uint32_t priority) const;
  std::string link_name(const Link& link) const {
    return nodes_[link.from].name + "->" + nodes_[link.to].name;
  }

  std::uint64_t seed_;
  TieBreak tie_break_;
  Framing framing_;
  Picoseconds now_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Node> nodes_;
  std::vector<Link> links_;
  std::vector<QueuePair> queue_pairs_;
  std::vector<std::uint32_t> datagram_hosts_;
  std::vector<Route> routes_;  // of datagrams
  std::vector<std::vector<std::uint32_t>> stray_routes_;
  std::map<std::pair<std::uint32_t, bool>, std::vector<std::int64_t>>
      hops_to_;                       // by host; over all links or not
  std::set<std::uint32_t> excluded_;  // cables
  bool has_rerouted_ = false;
  std::vector<Watch> watches_;
  std::vector<Packet> late_replies_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Picoseconds> next_cnps_;  // by node
  std::vector<Timer> timers_{{TimerKind::kSampleThroughput, 0, 0}, {TimerKind::kSampleQueues, 0, 1}};
  std::uint64_t next_order_ = 2;
  Picoseconds throughput_interval_, throughput_sampled_, queue_interval_;
  PriorityMask priorities_ = 1;
  Memories memories_;
  Mailbox mailbox_;
  LateCompletions late_completions_;
  DeliveryWatch deliveries_;
  Recorder recorder_;
  std::uint64_t packet_hops_ = 0;
  std::uint64_t events_done_ = 0;
  std::uint64_t packets_ = 0;
  std::uint64_t packets_max_ = 0;
};

}  // namespace simulator::reference
