// Virtual output queues: what waits for a port of a switch that stores frames where they came in, by priority
// and input. The inputs take turns, frame by frame, in the order of their numbers; the next turn is that of
// the first one with something to send behind the one served last.
// Source: Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018, section 4.1, for the queues and
// for round robin; McKeown, "The iSLIP scheduling algorithm for input-queued switches", 1999, section II, for
// where the turns of an output go on.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "engine/packet_pool.h"
#include "protocol/priorities.h"

namespace simulator {

class VirtualQueues {
 public:
  void push(PacketPool& pool, std::uint32_t priority, std::uint32_t input, PacketIndex index) {
    Inputs& inputs = inputs_[priority];
    if (inputs.queues.size() <= input) inputs.grow(input + 1);
    inputs.queues[input].push(pool, index);
    inputs.waiting[input / kBits] |= bit_of(input);
  }

  // Of a priority with something to send.
  PacketIndex front(std::uint32_t priority) const {
    const Inputs& inputs = inputs_[priority];
    return inputs.queues[inputs.first_from(inputs.turn)].head;
  }

  PacketIndex pop(const PacketPool& pool, std::uint32_t priority) {
    Inputs& inputs = inputs_[priority];
    const std::uint32_t input = inputs.first_from(inputs.turn);
    PacketFifo& queue = inputs.queues[input];
    const PacketIndex index = queue.pop(pool);
    if (queue.empty()) inputs.waiting[input / kBits] &= ~bit_of(input);
    inputs.turn = input + 1;
    return index;
  }

  // The last to come of those that wait; kNoPacket if none does.
  PacketIndex newest(std::uint32_t priority, std::uint32_t input) const {
    const Inputs& inputs = inputs_[priority];
    return input < inputs.queues.size() ? inputs.queues[input].newest() : kNoPacket;
  }

  PacketIndex pop_newest(PacketPool& pool, std::uint32_t priority, std::uint32_t input) {
    Inputs& inputs = inputs_[priority];
    PacketFifo& queue = inputs.queues[input];
    const PacketIndex index = queue.pop_newest(pool);
    if (queue.empty()) inputs.waiting[input / kBits] &= ~bit_of(input);
    return index;
  }

  // A frame of this input has left without waiting.
  void on_passed(std::uint32_t priority, std::uint32_t input) { inputs_[priority].turn = input + 1; }

  template <class Visit>
  void for_each_queue(std::uint32_t priority, Visit&& visit) const {
    for (const PacketFifo& queue : inputs_[priority].queues) visit(queue);
  }

 private:
  static constexpr std::uint32_t kBits = 64;
  static constexpr std::uint64_t bit_of(std::uint32_t input) { return std::uint64_t{1} << (input % kBits); }

  struct Inputs {
    std::vector<PacketFifo> queues{};
    std::vector<std::uint64_t> waiting{};  // bit i: input i has something to send
    std::uint32_t turn = 0;                // of this input, or of the next one behind it

    void grow(std::uint32_t size) {
      queues.resize(size);
      waiting.resize((size + kBits - 1) / kBits);
    }

    std::uint32_t first_from(std::uint32_t input) const {
      const auto words = static_cast<std::uint32_t>(waiting.size());
      if (input >= words * kBits) input = 0;
      std::uint32_t word = input / kBits;
      std::uint64_t bits = waiting[word] & ~(bit_of(input) - 1);
      while (bits == 0) {
        word = (word + 1) % words;
        bits = waiting[word];
      }
      return word * kBits + static_cast<std::uint32_t>(std::countr_zero(bits));
    }
  };

  std::array<Inputs, kPriorities> inputs_{};
};

}  // namespace simulator
