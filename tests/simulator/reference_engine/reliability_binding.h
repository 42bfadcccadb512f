// Python bindings of reliabilities and TCP windows without a network, for unit tests.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "binding/bound_engine.h"
#include "binding/fields.h"
#include "binding/queue_pair_binding.h"
#include "catalogue/reliabilities.h"
#include "tcp/requester.h"

namespace simulator {

struct BoundRequester {
  std::unique_ptr<Requester> requester;
  std::uint32_t paths = 1;
};
struct BoundResponder {
  std::unique_ptr<Responder> responder;
};

inline constexpr std::int64_t kMtuMax = 9216;  // as Python's MTU_BYTES_MAX

inline Reliability reliability_of(const std::string& name, const ParameterValues& parameters,
                                  std::int64_t mtu_bytes) {
  if (mtu_bytes < 1 || mtu_bytes > kMtuMax)
    throw SimulationError(name + ": expected mtu_bytes from 1 to " + std::to_string(kMtuMax) + ", got " +
                          std::to_string(mtu_bytes));
  return create_reliability(name, parameters, static_cast<std::uint32_t>(mtu_bytes));
}

// first, bits, answered, received bytes
using Bitmap = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::int64_t>;
using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

inline std::optional<std::int64_t> optional_ps(Picoseconds instant) {
  if (instant == kNever) return {};
  return instant.value;
}

inline nb::dict as_dict(const Acknowledgement& acknowledgement) {
  nb::list selective;
  for (std::uint32_t i = 0; i < acknowledgement.ranges; ++i) {
    selective.append(nb::make_tuple(acknowledgement.selective[i].first, acknowledgement.selective[i].end));
  }
  nb::dict result;
  result["expected"] = acknowledgement.expected;
  result["selective"] = selective;
  result["is_negative"] = bool{acknowledgement.is_negative};
  result["echoes_mark"] = bool{acknowledgement.echoes_mark};
  result["echoed_ps"] = acknowledgement.echoed.value;
  if (acknowledgement.is_credit()) result["granted"] = acknowledgement.granted();
  if (acknowledgement.content != Acknowledgement::Content::kBitmap) return result;
  const SelectiveBitmap bitmap = acknowledgement.bitmap();
  result["bitmap"] = nb::make_tuple(bitmap.first, bitmap.bits, bitmap.answered, bitmap.received.value);
  result["entropy"] = acknowledgement.entropy;
  result["is_trimmed_last"] = bool{acknowledgement.is_trimmed_last};
  result["is_of_request"] = bool{acknowledgement.is_of_request};
  return result;
}

// Pending acknowledgements of a responder.
inline nb::list taken(Responder& responder) {
  nb::list acknowledgements;
  responder.take_acknowledgements([&](const Acknowledgement& one) { acknowledgements.append(as_dict(one)); });
  return acknowledgements;
}

inline std::optional<nb::dict> next_packet(const BoundRequester& self) {
  if (!self.requester->has_packet()) return {};
  const DataPacket packet = self.requester->next();
  nb::dict result;
  result["number"] = packet.number;
  result["payload_bytes"] = packet.payload_bytes;
  result["is_last"] = bool{packet.is_last};
  result["has_reduced"] = bool{packet.has_reduced};
  result["wants_acknowledgement"] = bool{packet.wants_acknowledgement};
  result["is_request"] = bool{packet.is_request};
  return result;
}

inline void bind_requester(nb::module_& module) {
  nb::class_<BoundRequester>(module, "Requester", "The sending half of a reliability.")
      .def(
          "__init__",
          [](BoundRequester* self, const std::string& name, std::int64_t mtu_bytes,
             const ParameterValues& parameters) {
            new (self) BoundRequester{reliability_of(name, parameters, mtu_bytes).requester};
          },
          nb::arg("name"), nb::kw_only(), nb::arg("mtu_bytes"), nb::arg("parameters") = ParameterValues{})
      .def(
          "post",
          [](BoundRequester& self, std::int64_t bytes) {
            require("post", "length_bytes", bytes, kLengthMax);
            self.requester->post({.length = {bytes}});
          },
          nb::arg("length_bytes"))
      .def(
          "send",
          [](BoundRequester& self, std::int64_t end_ps) -> std::optional<std::uint64_t> {
            if (!self.requester->has_packet()) return {};
            const DataPacket packet = self.requester->next();
            self.requester->on_sent(packet, {end_ps});
            return packet.number;
          },
          nb::arg("end_ps"))
      .def(
          "on_acknowledgement",
          [](BoundRequester& self, std::int64_t now_ps, std::uint64_t expected, const Ranges& selective,
             bool is_negative, bool echoes_mark, std::int64_t echoed_ps, const std::optional<Bitmap>& bitmap,
             std::uint16_t entropy, bool is_trimmed_last, bool is_of_request) {
            Acknowledgement acknowledgement{.expected = expected,
                                            .is_negative = is_negative,
                                            .echoes_mark = echoes_mark,
                                            .is_trimmed_last = is_trimmed_last,
                                            .is_of_request = is_of_request,
                                            .entropy = entropy,
                                            .echoed = {echoed_ps}};
            require("on_acknowledgement", "entropy", entropy, self.paths - 1);
            if (bitmap && !selective.empty())
              throw SimulationError("on_acknowledgement: expected a bitmap or ranges, got both");
            const bool says_what = bitmap || !selective.empty();
            if (selective.size() > Acknowledgement::kRangesMax || (is_negative && !says_what))
              throw SimulationError("on_acknowledgement: expected at most 3 ranges, and one if is_negative");
            for (const auto& [first, end] : selective) acknowledgement.add({first, end});
            if (bitmap) {
              const auto& [first, bits, answered, received] = *bitmap;
              acknowledgement.set_bitmap({first, bits, answered, {received}});
            }
            return self.requester->on_acknowledgement(acknowledgement, {now_ps});
          },
          nb::kw_only(), nb::arg("now_ps"), nb::arg("expected"), nb::arg("selective") = Ranges{},
          nb::arg("is_negative") = false, nb::arg("echoes_mark") = false, nb::arg("echoed_ps") = 0,
          nb::arg("bitmap") = nb::none(), nb::arg("entropy") = 0, nb::arg("is_trimmed_last") = false,
          nb::arg("is_of_request") = false)
      .def(
          "on_credit",
          [](BoundRequester& self, std::int64_t now_ps, std::int64_t granted) {
            Acknowledgement credit;
            credit.set_credit(granted);
            return self.requester->on_acknowledgement(credit, {now_ps});
          },
          nb::kw_only(), nb::arg("now_ps"), nb::arg("granted"))
      .def(
          "credit_target",
          [](const BoundRequester& self, std::int64_t rivals) {
            return self.requester->credit_target(rivals);
          },
          nb::arg("rivals") = 1)
      .def(
          "use_paths",
          [](BoundRequester& self, std::uint64_t seed, std::uint32_t paths) {
            if (!std::has_single_bit(paths) || paths > (1U << 16))
              throw SimulationError("use_paths: expected paths as a power of two up to 65536, got " +
                                    std::to_string(paths));
            self.requester->use_paths(RandomStream(seed, "paths"), paths);
            self.paths = paths;
          },
          nb::arg("seed"), nb::arg("paths"))
      .def("next_path", [](BoundRequester& self) { return self.requester->next_path(); })
      .def(
          "on_deadline",
          [](BoundRequester& self, std::int64_t now_ps, double slowness) {
            if (self.requester->deadline() == kNever)
              throw SimulationError("on_deadline: expected a requester that waits for a deadline");
            return self.requester->on_deadline({now_ps}, slowness);
          },
          nb::arg("now_ps"), nb::arg("slowness") = 1.0)
      .def_prop_ro("deadline_ps",
                   [](const BoundRequester& self) { return optional_ps(self.requester->deadline()); })
      .def_prop_ro("next_packet", &next_packet)
      .def("metrics", [](const BoundRequester& self) { return self.requester->metrics(); })
      .def_prop_ro("acknowledged", [](const BoundRequester& self) { return self.requester->acknowledged(); })
      .def_prop_ro("retransmitted_packets",
                   [](const BoundRequester& self) {
                     return std::as_const(*self.requester).counters().retransmitted_packets;
                   })
      .def_prop_ro(
          "timeouts",
          [](const BoundRequester& self) { return std::as_const(*self.requester).counters().timeouts; })
      .def_prop_ro("recoveries", [](const BoundRequester& self) { return self.requester->recoveries(); });
}

inline void bind_responder(nb::module_& module) {
  nb::class_<BoundResponder>(module, "Responder", "The receiving half of a reliability.")
      .def(
          "__init__",
          [](BoundResponder* self, const std::string& name, std::int64_t mtu_bytes,
             const ParameterValues& parameters) {
            new (self) BoundResponder{reliability_of(name, parameters, mtu_bytes).responder};
          },
          nb::arg("name"), nb::kw_only(), nb::arg("mtu_bytes"), nb::arg("parameters") = ParameterValues{})
      .def(
          "on_packet",
          [](BoundResponder& self, std::int64_t number, std::uint16_t payload_bytes, bool is_marked,
             bool is_last, bool has_reduced, std::int64_t sent_ps, std::int64_t now_ps,
             bool wants_acknowledgement, bool is_trimmed, bool is_trimmed_last, std::uint16_t entropy,
             bool is_request, std::uint32_t credit_target) {
            require("on_packet", "number", number, kLengthMax);
            self.responder->on_packet({.number = static_cast<std::uint64_t>(number),
                                       .payload_bytes = payload_bytes,
                                       .entropy = entropy,
                                       .is_first = false,
                                       .is_last = is_last,
                                       .has_reduced = has_reduced,
                                       .wants_acknowledgement = wants_acknowledgement,
                                       .is_trimmed = is_trimmed,
                                       .is_trimmed_last = is_trimmed_last,
                                       .is_request = is_request,
                                       .credit_target = credit_target & DataPacket::kCreditTargetMask,
                                       .sent = {sent_ps}},
                                      is_marked, {now_ps});
            return taken(*self.responder);
          },
          nb::arg("number"), nb::kw_only(), nb::arg("payload_bytes") = 1024, nb::arg("is_marked") = false,
          nb::arg("is_last") = false, nb::arg("has_reduced") = false, nb::arg("sent_ps") = 0,
          nb::arg("now_ps") = 0, nb::arg("wants_acknowledgement") = false, nb::arg("is_trimmed") = false,
          nb::arg("is_trimmed_last") = false, nb::arg("entropy") = 0, nb::arg("is_request") = false,
          nb::arg("credit_target") = 0)
      .def("wants_turn",
           [](BoundResponder& self) {
             CreditGrants* const grants = self.responder->grants();
             return grants != nullptr && grants->take_turn_request();
           })
      .def(
          "grant",
          [](BoundResponder& self, bool is_idle) {
            if (self.responder->grants() == nullptr)
              throw SimulationError("grant: expected a kind with credits of receivers, got one without");
            self.responder->grants()->grant(is_idle);
            self.responder->queue_credit_report();
            return taken(*self.responder);
          },
          nb::kw_only(), nb::arg("is_idle") = false)
      .def(
          "on_deadline",
          [](BoundResponder& self, std::int64_t now_ps) {
            self.responder->on_deadline({now_ps});
            return taken(*self.responder);
          },
          nb::arg("now_ps"))
      .def_prop_ro("deadline_ps",
                   [](const BoundResponder& self) { return optional_ps(self.responder->deadline()); })
      .def_prop_ro("delivered_bytes",
                   [](const BoundResponder& self) { return self.responder->delivered().value; });
}

struct BoundTcpWindow {
  std::unique_ptr<Requester> requester;
  WindowControl* control;
};

inline void bind_tcp_window(nb::module_& module) {
  using Window = BoundTcpWindow;
  nb::class_<Window>(module, "TcpWindow", "The congestion control of a TCP, alone.")
      .def(
          "__init__",
          [](Window* self, const std::string& name, const ParameterValues& parameters,
             std::uint32_t segment_bytes) {
            std::unique_ptr<Requester> requester =
                create_reliability(name, parameters, segment_bytes).requester;
            auto* const tcp = dynamic_cast<TcpRequester*>(requester.get());
            if (tcp == nullptr) throw SimulationError("TcpWindow: expected the name of a TCP, got " + name);
            new (self) Window{std::move(requester), &tcp->control()};
          },
          nb::arg("name"), nb::arg("parameters") = ParameterValues{}, nb::kw_only(),
          nb::arg("segment_bytes") = 1460)
      .def(
          "on_acknowledged",
          [](Window& self, std::int64_t now_ps, std::int64_t acknowledged_bytes, bool is_echo,
             bool is_window_over, bool may_grow, std::optional<std::int64_t> round_trip_ps) {
            self.control->on_acknowledged(
                {.now = {now_ps},
                 .acknowledged = {acknowledged_bytes},
                 .is_echo = is_echo,
                 .is_window_over = is_window_over,
                 .may_grow = may_grow,
                 .round_trip = round_trip_ps ? Picoseconds{*round_trip_ps} : kNever});
          },
          nb::kw_only(), nb::arg("now_ps") = 0, nb::arg("acknowledged_bytes"), nb::arg("is_echo") = false,
          nb::arg("is_window_over") = false, nb::arg("may_grow") = true,
          nb::arg("round_trip_ps") = nb::none())
      .def(
          "on_loss", [](Window& self, std::int64_t in_flight) { self.control->on_loss({in_flight}); },
          nb::arg("in_flight_bytes"))
      .def("on_marked", [](Window& self) { self.control->on_marked(); })
      .def(
          "on_timeout",
          [](Window& self, std::int64_t in_flight, bool is_first) {
            self.control->on_timeout({in_flight}, is_first);
          },
          nb::arg("in_flight_bytes"), nb::arg("is_first") = true)
      .def_prop_ro("window_bytes", [](const Window& self) { return self.control->window().value; })
      .def_prop_ro("threshold_bytes", [](const Window& self) { return self.control->threshold().value; })
      .def("metrics", [](const Window& self) { return self.control->metrics(); });
}

}  // namespace simulator
