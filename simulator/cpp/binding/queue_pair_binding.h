// Bindings of a queue pair, which is one end of a connection.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "binding/bound_engine.h"
#include "protocol/packet_kind.h"
#include "protocol/queue_pair.h"

namespace simulator {

template <class EngineType>
struct BoundQueuePair : PartOfEngine<EngineType> {};

inline void require(const char* what, const char* name, std::int64_t value, std::int64_t maximum) {
  if (value >= 0 && value <= maximum) return;
  throw SimulationError(std::string(what) + ": expected " + name + " from 0 to " + std::to_string(maximum) +
                        ", got " + std::to_string(value));
}

inline constexpr std::int64_t kLengthMax = std::int64_t{1} << 40;

// A verb from the arguments of host software.
inline Verb verb_from(const char* what, VerbKind kind, std::int64_t wr_id, std::int64_t length_bytes,
                      bool signaled, std::optional<std::uint32_t> imm, std::int64_t local_offset,
                      std::int64_t remote_offset) {
  require(what, "wr_id", wr_id, std::numeric_limits<std::int64_t>::max());
  require(what, "length_bytes", length_bytes, kLengthMax);
  require(what, "local_offset", local_offset, kLengthMax);
  require(what, "remote_offset", remote_offset, kLengthMax);
  return {.wr_id = static_cast<std::uint64_t>(wr_id),
          .length = {length_bytes},
          .is_signaled = signaled,
          .kind = kind,
          .immediate = imm,
          .local_offset = local_offset,
          .remote_offset = remote_offset};
}

template <class EngineType, class Class>
void bind_figures(Class& queue_pair) {
  using QueuePair = BoundQueuePair<EngineType>;
  queue_pair.def_prop_ro("qp_num", [](const QueuePair& qp) { return queue_pair_number(qp.index); })
      .def_prop_ro("state", [](QueuePair& qp) { return static_cast<int>(figures_of(qp).state); })
      .def_prop_ro("retransmitted_bytes", [](QueuePair& qp) { return figures_of(qp).retransmitted.value; })
      .def_prop_ro("delivered_bytes", [](QueuePair& qp) { return figures_of(qp).delivered.value; })
      .def_prop_ro("posted_bytes", [](QueuePair& qp) { return figures_of(qp).posted.value; })
      .def_prop_ro("control_rate_bps", [](QueuePair& qp) { return figures_of(qp).control_rate.value; })
      .def_prop_ro("delivered_messages", [](QueuePair& qp) { return figures_of(qp).delivered_messages; })
      .def("nic_clock_ns", [](const QueuePair& qp) { return qp.engine().nic_clock_ns(qp.index); })
      .def(
          "left_ns",
          [](const QueuePair& qp, std::uint64_t wr_id) {
            const std::optional<Picoseconds> delivered = qp.bound->hosts.left_nic(qp.index, wr_id);
            const Picoseconds left = delivered ? *delivered : qp.engine().left_nic(qp.index, wr_id);
            if (left == kNever)
              throw SimulationError("left_ns: verb " + std::to_string(wr_id) + " is unknown or has not left");
            return qp.engine().nic_clock_at(qp.index, left);
          },
          nb::arg("wr_id"));
}

template <class EngineType, class Class>
void bind_posting(Class& queue_pair) {
  using QueuePair = BoundQueuePair<EngineType>;
  queue_pair
      .def(
          "post_write",
          [](const QueuePair& qp, std::int64_t wr_id, std::int64_t length_bytes, bool signaled,
             std::optional<std::uint32_t> imm, std::int64_t local_offset, std::int64_t remote_offset) {
            return qp.engine().post(qp.index, verb_from("post_write", VerbKind::kWrite, wr_id, length_bytes,
                                                        signaled, imm, local_offset, remote_offset));
          },
          nb::arg("wr_id"), nb::arg("length_bytes"), nb::arg("signaled"), nb::kw_only(),
          nb::arg("imm") = nb::none(), nb::arg("local_offset") = 0, nb::arg("remote_offset") = 0)
      .def(
          "post_send",
          [](const QueuePair& qp, std::int64_t wr_id, std::int64_t length_bytes, bool signaled,
             std::optional<std::uint32_t> imm) {
            return qp.engine().post(
                qp.index, verb_from("post_send", VerbKind::kSend, wr_id, length_bytes, signaled, imm, 0, 0));
          },
          nb::arg("wr_id"), nb::arg("length_bytes"), nb::arg("signaled"), nb::kw_only(),
          nb::arg("imm") = nb::none())
      .def(
          "post_read",
          [](const QueuePair& qp, std::int64_t wr_id, std::int64_t length_bytes, bool signaled,
             std::int64_t local_offset, std::int64_t remote_offset) {
            return qp.engine().post(qp.index, verb_from("post_read", VerbKind::kRead, wr_id, length_bytes,
                                                        signaled, {}, local_offset, remote_offset));
          },
          nb::arg("wr_id"), nb::arg("length_bytes"), nb::arg("signaled"), nb::kw_only(),
          nb::arg("local_offset") = 0, nb::arg("remote_offset") = 0);
}

template <class EngineType, class Class>
void bind_states(Class& queue_pair) {
  using QueuePair = BoundQueuePair<EngineType>;
  queue_pair.def("reset", [](const QueuePair& qp) { qp.engine().reset(qp.index); })
      .def(
          "ready",
          [](const QueuePair& qp, std::int64_t sq_psn, std::int64_t rq_psn) {
            constexpr auto kPsnMax = static_cast<std::int64_t>(kPsnRound) - 1;
            require("ready", "sq_psn", sq_psn, kPsnMax);
            require("ready", "rq_psn", rq_psn, kPsnMax);
            qp.engine().ready(qp.index, static_cast<std::uint32_t>(sq_psn),
                              static_cast<std::uint32_t>(rq_psn));
          },
          nb::kw_only(), nb::arg("sq_psn"), nb::arg("rq_psn"))
      .def(
          "use_limiter",
          [](const QueuePair& qp, std::uint32_t number) { qp.engine().use_limiter(qp.index, number); },
          nb::arg("number"))
      .def(
          "set_rate",
          [](const QueuePair& qp, std::int64_t rate_bps) {
            constexpr std::int64_t kRateMax = 10'000'000'000'000;
            if (rate_bps < 0 || rate_bps > kRateMax) {
              throw SimulationError("set_rate: expected rate_bps from 1 to 10^13, or 0 for no limit, got " +
                                    std::to_string(rate_bps));
            }
            return qp.engine().set_rate(qp.index, BitsPerSecond{rate_bps}).value;
          },
          nb::arg("rate_bps"));
}

template <class EngineType, class Class>
void bind_deliveries(Class& queue_pair) {
  using QueuePair = BoundQueuePair<EngineType>;
  queue_pair.def(
      "call_when_delivered",
      [](const QueuePair& qp, std::int64_t delivered_bytes, nb::callable callback) {
        require("call_when_delivered", "delivered_bytes", delivered_bytes,
                std::numeric_limits<std::int64_t>::max());
        qp.engine().call_when_delivered(qp.index, {delivered_bytes},
                                        qp.bound->hosts.add_once(std::move(callback)));
      },
      nb::arg("delivered_bytes"), nb::arg("callback"));
}

template <class EngineType>
void bind_queue_pair(nb::module_& module) {
  using QueuePair = BoundQueuePair<EngineType>;
  nb::class_<QueuePair> queue_pair(module, "QueuePair", nb::type_slots(part_slots<QueuePair>()),
                                   "One end of a connection.");
  bind_figures<EngineType>(queue_pair);
  bind_posting<EngineType>(queue_pair);
  bind_states<EngineType>(queue_pair);
  bind_deliveries<EngineType>(queue_pair);
  queue_pair.def(
      "bind",
      [](const QueuePair& qp, nb::handle local, nb::handle remote) {
        for (const nb::handle memory : {local, remote}) {
          if (!memory.attr("engine").is(qp.owner))
            throw SimulationError("bind: expected memories of the same simulation");
        }
        qp.engine().bind(qp.index, nb::cast<std::uint32_t>(local.attr("number")),
                         nb::cast<std::uint32_t>(remote.attr("number")));
      },
      nb::arg("local"), nb::arg("remote"));
  queue_pair.def(
      "attach",
      [](const QueuePair& qp, nb::callable on_completions, nb::callable on_qp_event,
         std::optional<nb::callable> on_receives) {
        qp.engine().mailbox().attach(qp.index, on_receives.has_value());
        qp.bound->hosts.attach(qp.index, {std::move(on_completions), std::move(on_qp_event),
                                          on_receives ? nb::object(*on_receives) : nb::object()});
      },
      nb::arg("on_completions"), nb::arg("on_qp_event"), nb::arg("on_receives") = nb::none());
}

}  // namespace simulator
