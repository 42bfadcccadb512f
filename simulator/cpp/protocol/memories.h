// The memories that verbs read and write, for queue pairs that are bound to some. Bytes are taken from the
// source when their packet arrives.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/check.h"
#include "base/fields.h"
#include "base/random_stream.h"
#include "base/units.h"
#include "protocol/packet_kind.h"
#include "protocol/queue_pair.h"

namespace simulator {

// A packet that landed in a memory. This is a row of a table.
struct MemoryWrite {
  Picoseconds at;
  std::uint32_t qp_num = 0;
  std::uint32_t memory = 0;
  std::int64_t offset = 0;
  Bytes length;
};
template <>
struct FieldsOf<MemoryWrite> {
  using Row = MemoryWrite;
  static constexpr auto kTable =
      std::tuple(Field{"t_ps", &Row::at}, Field{"qp_num", &Row::qp_num}, Field{"memory", &Row::memory},
                 Field{"offset", &Row::offset}, Field{"length_bytes", &Row::length});
};

class Memories {
 public:
  // A memory on a host (of the engine's numbering), full of random bytes or of zeros.
  std::uint32_t add(std::uint32_t host, std::int64_t size, std::optional<std::uint64_t> seed) {
    memories_.push_back({host, std::vector<std::uint8_t>(static_cast<std::size_t>(size))});
    if (seed) {
      RandomStream stream(*seed, "memory");
      for (std::uint8_t& byte : memories_.back().bytes) byte = static_cast<std::uint8_t>(stream.next_bits());
    }
    return static_cast<std::uint32_t>(memories_.size() - 1);
  }

  void bind(std::uint32_t qp, std::uint32_t local, std::uint32_t remote, std::uint32_t host,
            std::uint32_t peer_host) {
    if (memories_[local].host != host || memories_[remote].host != peer_host)
      throw SimulationError("bind: expected a local memory on this host and a remote one on the other host");
    if (bindings_.size() <= qp) bindings_.resize(qp + 1);
    bindings_[qp] = Binding{local, remote};
  }

  bool is_bound(std::uint32_t qp) const { return qp < bindings_.size() && bindings_[qp].has_value(); }

  void check(std::uint32_t qp, const Verb& verb) const {
    const auto fits = [&](std::uint32_t memory, std::int64_t offset) {
      return offset + verb.length.value <= static_cast<std::int64_t>(memories_[memory].bytes.size());
    };
    if (fits(bindings_[qp]->local, verb.local_offset) && fits(bindings_[qp]->remote, verb.remote_offset))
      return;
    throw SimulationError("verb " + std::to_string(verb.wr_id) + " goes beyond the end of a memory");
  }

  // A packet of a verb of `qp` has been accepted.
  void store_payload(std::uint32_t qp, VerbKind kind, const PacketDetails& details, Bytes payload,
                     Picoseconds now) {
    if (!is_bound(qp) || payload.value == 0) return;
    const bool is_read = kind == VerbKind::kRead;
    const Binding& binding = *bindings_[qp];
    const std::uint32_t to = is_read ? binding.local : binding.remote;
    const std::uint32_t from = is_read ? binding.remote : binding.local;
    const std::int64_t to_offset = is_read ? details.local_offset : details.remote_offset;
    const std::int64_t from_offset = is_read ? details.remote_offset : details.local_offset;
    std::memmove(memories_[to].bytes.data() + to_offset, memories_[from].bytes.data() + from_offset,
                 static_cast<std::size_t>(payload.value));
    if (!records_) return;
    writes.push_back(
        {.at = now, .qp_num = queue_pair_number(qp), .memory = to, .offset = to_offset, .length = payload});
  }

  void record() { records_ = true; }
  std::vector<std::uint8_t>& bytes(std::uint32_t memory) { return memories_[memory].bytes; }

  std::vector<MemoryWrite> writes;

 private:
  struct Memory {
    std::uint32_t host;
    std::vector<std::uint8_t> bytes;
  };

  struct Binding {
    std::uint32_t local;
    std::uint32_t remote;
  };

  std::vector<Memory> memories_;
  std::vector<std::optional<Binding>> bindings_;  // by queue pair
  bool records_ = false;
};

}  // namespace simulator
