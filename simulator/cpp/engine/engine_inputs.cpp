// Input-queued switches: frames wait in a buffer of the link that they came in over.
//
// There is no fabric that could be busy: each port takes one frame after the other, from any input, and an
// input may feed several ports at once. So ports see each other only in the accounts of the inputs, and are
// as lazy as those of other switches (engine_classes.cpp).
#include "engine/engine.h"

namespace simulator {

// One more port; its link is already among those of the switch.
void Engine::add_input(Switch& element, ClassedPort& classes, IngressAccount& ingress) {
  ingress.input = static_cast<std::uint32_t>(element.inputs.size());
  classes.virtual_queues = std::make_unique<VirtualQueues>();
  classes.has_virtual_queues = true;
  element.inputs.push_back(element.pool);
}

// Each input is charged for the frames that came in over its link and wait, and for nothing else.
void Engine::check_inputs() const {
  std::vector<std::int64_t> waiting(ports_.size(), 0);
  for (std::uint32_t link = 0; link < ports_.size(); ++link) {
    if (!is_input_queued(links_[link].from)) continue;
    for (std::uint32_t priority = 0; priority < kPriorities; ++priority) {
      classes_[link].for_each_waiting(pool_, priority, [&](PacketIndex at) {
        waiting[pool_[at].ingress] += pool_[at].frame_bytes;
      });
    }
  }
  for (std::uint32_t link = 0; link < ports_.size(); ++link) {
    if (!is_input_queued(links_[link].from)) continue;
    const IngressAccount& account = ingresses_[link];
    const PausePool& pool = switches_[ports_[link].owner].inputs[account.input];
    std::int64_t headroom = 0;
    for (const std::int64_t bytes : account.headroom) headroom += bytes;
    SIM_CHECK(pool.used() + headroom == waiting[link] && pool.used() <= pool.size(), now_, port_name(link),
              "an input is charged for other bytes than those that came in over it and wait");
  }
}

}  // namespace simulator
