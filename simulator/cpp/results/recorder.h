// Results of a run: sampled tables, the oracle's round trips and the digest of all completions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/fields.h"
#include "base/random_stream.h"
#include "base/units.h"
#include "protocol/pause_state.h"
#include "protocol/rc_requester.h"
#include "results/packet_log.h"

namespace simulator {

enum class RunState { kReachedLimit, kSliceUsedUp, kHostsWaiting };

// Numbers of enum ibv_qp_state.
enum class QueuePairState : int { kReset = 0, kReadyToSend = 3, kError = 6 };

constexpr std::string_view name_of(QueuePairState state) {
  if (state == QueuePairState::kReset) return "RESET (0)";
  return state == QueuePairState::kError ? "ERR (6)" : "RTS (3)";
}

struct QueuePairFigures {
  QueuePairState state;
  Bytes retransmitted;
  Bytes delivered;  // to the other end or, by READs, from there: in order, or in whole messages
  Bytes posted;
  std::uint64_t delivered_messages;  // of an unreliable connection
  BitsPerSecond control_rate;        // that a congestion control in the NIC allows; 0 without one
};

// Of a port, or of a queue pair whose packets leave there.
struct Counter {
  std::uint32_t link;
  std::uint32_t qp_num;  // 0: of the port
  const char* name;      // a literal
  std::int64_t value;
};

struct Statistics {
  std::uint64_t packet_hops = 0;
  std::uint64_t events = 0;
  std::uint64_t packets_live = 0;
  std::uint64_t packets_pool_max = 0;
  std::uint64_t verbs_done = 0;
};

// A paused port with something to send, and the ports of the far end where frames wait that came over it.
struct Wait {
  std::uint32_t link;
  std::uint32_t priority;
  std::vector<std::uint32_t> behind{};  // ports of the far end; none if that is a host
};

// Bytes that a queue pair delivered in an interval. This and the next structs are rows of tables.
struct DeliverySample {
  std::uint32_t qp_num = 0;
  Picoseconds end;
  Picoseconds interval;
  Bytes delivered;
};
template <>
struct FieldsOf<DeliverySample> {
  using Row = DeliverySample;
  static constexpr auto kTable =
      std::tuple(Field{"qp_num", &Row::qp_num}, Field{"t_ns", &Row::end},
                 Field{"interval_ns", &Row::interval}, Field{"delivered_bytes", &Row::delivered});
};

struct QueueSample {
  std::uint32_t link = 0;
  std::uint32_t priority = 0;
  Picoseconds at;
  Bytes waiting;
  Bytes waiting_max;       // since the last sample
  std::int64_t drops = 0;  // since the last sample, and so are marks
  std::int64_t marks = 0;
};
template <>
struct FieldsOf<QueueSample> {
  using Row = QueueSample;
  static constexpr auto kTable =
      std::tuple(Field{"link", &Row::link}, Field{"priority", &Row::priority}, Field{"t_ns", &Row::at},
                 Field{"bytes", &Row::waiting}, Field{"max_bytes", &Row::waiting_max},
                 Field{"drops", &Row::drops}, Field{"marks", &Row::marks});
};

// When the last packet of a signalled verb left its NIC, and when the verb completed.
struct VerbTimes {
  std::uint32_t qp_num = 0;
  std::uint64_t wr_id = 0;
  Picoseconds left_nic;
  Picoseconds completed;
};
template <>
struct FieldsOf<VerbTimes> {
  using Row = VerbTimes;
  static constexpr auto kTable =
      std::tuple(Field{"qp_num", &Row::qp_num}, Field{"wr_id", &Row::wr_id},
                 Field{"t_last_ps", &Row::left_nic}, Field{"t_comp_ps", &Row::completed});
};

class Recorder {
 public:
  void record_oracle() { records_oracle_ = true; }

  void on_verb_done(std::uint32_t qp_num, const Verb& verb, VerbStatus status, Picoseconds now) {
    fold(qp_num, verb.wr_id, status, now.value);
    ++verbs_done_;
    if (!records_oracle_ || !verb.is_signaled || status != VerbStatus::kSuccess) return;
    oracle.push_back({.qp_num = qp_num, .wr_id = verb.wr_id, .left_nic = verb.left_nic, .completed = now});
  }

  void on_receive(std::uint32_t qp_num, std::uint64_t wr_id, std::uint32_t immediate, Picoseconds now) {
    fold(qp_num, wr_id, immediate, now.value);
  }

  void on_datagram(std::uint32_t qp_num, std::uint32_t source_qp_num, std::uint64_t wr_id, Picoseconds now) {
    fold(qp_num, source_qp_num, wr_id, now.value);
  }

  std::uint64_t digest() const { return digest_; }
  std::uint64_t verbs_done() const { return verbs_done_; }

  std::vector<DeliverySample> throughput;
  std::vector<QueueSample> queues;
  std::vector<VerbTimes> oracle;
  PauseState::Records pauses;  // that are over
  PacketLog packets;

 private:
  template <class... Values>
  void fold(Values... values) {
    ((digest_ = mix_bits(digest_ ^ mix_bits(static_cast<std::uint64_t>(values))) + 1), ...);
  }

  std::uint64_t digest_ = 0;
  std::uint64_t verbs_done_ = 0;
  bool records_oracle_ = false;
};

}  // namespace simulator
