// A direction of a link of the eager engine, with the port that sends on it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/configuration.h"
#include "base/random_stream.h"
#include "cc/rocc_point.h"
#include "cc/switch_control.h"
#include "protocol/link_loss.h"
#include "protocol/marker.h"
#include "protocol/pause_state.h"
#include "protocol/shared_buffer.h"
#include "protocol/weighted_turns.h"
#include "reference/queue.h"

namespace simulator::reference {

struct Link {
  std::uint32_t from;
  std::uint32_t to;
  LinkConfiguration configuration;
  LinkLoss loss;
  std::array<Queue, kPriorities> queues{};  // without classes only the first one is in use
  bool has_classes = false;
  std::optional<Marker> marker{};
  std::optional<RoccPort> rocc{};
  std::optional<WeightedTurns> turns{};
  std::optional<TrimmingConfiguration> trimming{};
  std::optional<RandomStream> trimming_coin{};
  std::shared_ptr<SwitchControl> judge{};
  std::int64_t trimmed_packets = 0;
  std::int64_t trimmed_bytes = 0;
  bool is_busy = false;
  bool is_pause_frame_due = false;
  PauseState pauses{};
  IngressAccount ingress{};
  std::optional<SharedBuffer> input{};  // of an input-queued switch: what holds what came in over it
  std::uint32_t refresh_timer = 0;
  std::uint32_t watchdog_timer = 0;
  PriorityMask shut = 0;
  std::int64_t watchdog_fired = 0;
  std::int64_t sent_bytes = 0;
  Bytes sent_on_wire{};
  std::int64_t received_bytes = 0;
  std::int64_t lost_packets = 0;
  std::int64_t pause_frames = 0;
  std::int64_t lossless_drops = 0;
  bool has_route_end = false;
  std::int64_t expired_packets = 0;
  std::int64_t stray_packets = 0;
};

}  // namespace simulator::reference
