// Ends the simulation with the arguments of the call that its parameters select.
#pragma once

#include <rogue/switch_control.h>

#include <cstdint>
#include <string>

class Witness final : public rogue::SwitchControl {
 public:
  static constexpr bool wants_queues = true;

  Witness(const rogue::Parameters& parameters, const rogue::Place& place)
      : question_(parameters.whole("question")),
        call_(parameters.whole("call")),
        rate_bps_(parameters.whole("rate_bps")),
        place_(place) {}

  rogue::Verdict on_arrival(const rogue::Arrival& told) override {
    if (is_asked(0))
      rogue::fail(say("now", told.now_ps) + say("queue", told.queue_bytes) + say("port", told.port_bytes) +
                  say("wait", told.must_wait) + seen(told.packet) + place());
    return rogue::Verdict::kTake;
  }
  rogue::Verdict on_departure(const rogue::Departure& told) override {
    if (is_asked(1))
      rogue::fail(say("now", told.now_ps) + say("waited", told.waited_ps) + say("queue", told.queue_bytes) +
                  say("port", told.port_bytes) + seen(told.packet) + place());
    return rogue::Verdict::kMark;
  }
  std::uint32_t choose(const rogue::Choice& told) override {
    if (question_ != 2 || ++calls_ != call_) return told.hashed;
    std::string ports;
    for (const rogue::EqualPort& port : told.ports)
      ports += "[" + say("rate", port.rate_bps) + say("queue", port.queue_bytes) +
               say("sent", port.sent_bytes) + say("number", port.number) + say("sending", port.is_sending) +
               "] ";
    rogue::fail(say("now", told.now_ps) + say("hashed", told.hashed) + ports + seen(told.packet) + place());
  }

 private:
  // Only ports of one rate count, so that the parameters can select a port.
  bool is_asked(std::int64_t question) {
    return question_ == question && place_.rate_bps == rate_bps_ && ++calls_ == call_;
  }
  template <class Number>
  static std::string say(const std::string& name, Number value) {
    return name + " " + std::to_string(value) + " ";
  }
  static std::string seen(const rogue::PacketSeen& packet) {
    return say("frame", packet.frame_bytes) + say("priority", packet.priority) + say("flow", packet.flow) +
           say("entropy", packet.entropy) + say("data", packet.is_data) +
           say("markable", packet.can_be_marked) + say("marked", packet.is_marked) +
           say("trimmable", packet.can_be_trimmed);
  }
  std::string place() const {
    return say("rate", place_.rate_bps) + say("switch", place_.is_switch) + say("host", place_.leads_to_host);
  }

  std::int64_t question_;
  std::int64_t call_;
  std::int64_t rate_bps_;
  rogue::Place place_;
  std::int64_t calls_ = 0;
};

ROGUE_SWITCH_CONTROL(Witness, "witness", "it says what it is told, and ends",
                     {"question", 0, 0, 2, "0 an arrival, 1 a departure, 2 a choice"},
                     {"call", 1, 1, 1e9, "the how many-th at its place"},
                     {"rate_bps", 10e9, 1, 1e13, "of the ports that it counts calls at"});
