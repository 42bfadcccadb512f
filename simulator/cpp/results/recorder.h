// What a run leaves behind: sampled tables, the oracle's round trips and the digest of all completions.
#pragma once

#include <cstdint>

#include "base/columns.h"
#include "base/random_stream.h"
#include "protocol/pause_state.h"
#include "protocol/rc_requester.h"
#include "results/packet_log.h"

namespace simulator {

class Recorder {
 public:
  void record_oracle() { records_oracle_ = true; }

  void on_verb_done(std::uint32_t qp_num, const Verb& verb, VerbStatus status, Picoseconds now) {
    fold(qp_num);
    fold(verb.wr_id);
    fold(static_cast<std::uint64_t>(status));
    fold(static_cast<std::uint64_t>(now.value));
    ++verbs_done_;
    if (!records_oracle_ || !verb.is_signaled || status != VerbStatus::kSuccess) return;
    oracle.add({qp_num, static_cast<std::int64_t>(verb.wr_id), verb.left_nic.value, now.value});
  }

  void on_receive(std::uint32_t qp_num, std::uint64_t wr_id, std::uint32_t immediate, Picoseconds now) {
    fold(qp_num);
    fold(wr_id);
    fold(immediate);
    fold(static_cast<std::uint64_t>(now.value));
  }

  void on_datagram(std::uint32_t qp_num, std::uint32_t source_qp_num, std::uint64_t wr_id, Picoseconds now) {
    fold(qp_num);
    fold(source_qp_num);
    fold(wr_id);
    fold(static_cast<std::uint64_t>(now.value));
  }

  std::uint64_t digest() const { return digest_; }
  std::uint64_t verbs_done() const { return verbs_done_; }

  Columns<4> throughput;       // qp_num, interval end ns, interval ns, delivered bytes
  Columns<7> queues;           // link, priority, ns, bytes, most bytes, drops and marks since the last sample
  Columns<4> oracle;           // qp_num, wr_id, last byte left ps, completed ps
  PauseState::Records pauses;  // that are over
  PacketLog packets;

 private:
  void fold(std::uint64_t value) { digest_ = mix_bits(digest_ ^ mix_bits(value)) + 1; }

  std::uint64_t digest_ = 0;
  std::uint64_t verbs_done_ = 0;
  bool records_oracle_ = false;
};

}  // namespace simulator
