// The Python face of an engine: the classes Engine, QueuePair and Timer of a module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/configuration.h"
#include "binding/columns_to_numpy.h"
#include "binding/marking_binding.h"
#include "binding/memory_binding.h"
#include "binding/part_of_engine.h"
#include "binding/queue_pair_binding.h"
#include "cc/parameters.h"
#include "protocol/framing.h"
#include "protocol/pause_state.h"
#include "results/wait.h"

namespace simulator {

template <class EngineType>
struct BoundTimer : PartOfEngine<EngineType> {};

// C++ exceptions become the classes of simulator/errors.py.
inline void register_exceptions() {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    const auto raise = [](const char* name, const char* message) {
      PyErr_SetString(nb::module_::import_("simulator.errors").attr(name).ptr(), message);
    };
    try {
      std::rethrow_exception(pointer);
    } catch (const SimulationError& error) {
      raise("SimulationError", error.what());
    } catch (const QueuePairError& error) {
      raise("QueuePairError", error.what());
    } catch (const InvariantViolation& error) {
      raise("InvariantViolation", error.what());
    }
  });
}

inline std::string hexadecimal(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

template <class EngineType>
void bind_timer(nb::module_& module) {
  using Timer = BoundTimer<EngineType>;
  nb::class_<Timer>(module, "Timer", nb::type_slots(part_slots<Timer>()),
                    "A timer of host software, re-armable.")
      .def(
          "set",
          [](const Timer& timer, std::int64_t host_ns) {
            timer.engine().set_timer(timer.index, Session<EngineType>::to_picoseconds(host_ns));
          },
          nb::arg("host_ns"))
      .def("cancel", [](const Timer& timer) { timer.engine().cancel_timer(timer.index); });
}

template <class EngineType, class Class>
void bind_topology(Class& engine) {
  using Bound = Session<EngineType>;
  engine
      .def(
          "add_host",
          [](Bound& self, const std::string& name, std::uint32_t limiters, std::int64_t rate_step_bps,
             std::int64_t actuation_lag_bytes_max, double clock_drift_ppm_max, bool clock_offset_random,
             bool withholds_next_verb, std::int64_t pci_rc_ns, std::int64_t pci_uc_ns,
             std::int64_t pci_late_ns, double pci_late_probability) {
            return self.engine.add_host(name, {.limiters = limiters,
                                               .rate_step = {rate_step_bps},
                                               .actuation_lag_max = {actuation_lag_bytes_max},
                                               .clock_drift_ppm_max = clock_drift_ppm_max,
                                               .clock_offset_random = clock_offset_random,
                                               .withholds_next_verb = withholds_next_verb,
                                               .pci_rc_ns = pci_rc_ns,
                                               .pci_uc_ns = pci_uc_ns,
                                               .pci_late_ns = pci_late_ns,
                                               .pci_late_probability = pci_late_probability});
          },
          nb::kw_only(), nb::arg("name"), nb::arg("limiters"), nb::arg("rate_step_bps"),
          nb::arg("actuation_lag_bytes_max"), nb::arg("clock_drift_ppm_max"), nb::arg("clock_offset_random"),
          nb::arg("withholds_next_verb"), nb::arg("pci_rc_ns"), nb::arg("pci_uc_ns"), nb::arg("pci_late_ns"),
          nb::arg("pci_late_probability"))
      .def(
          "add_switch",
          [](Bound& self, const std::string& name, std::optional<std::int64_t> buffer_bytes, double alpha,
             std::uint8_t lossless_priorities, std::optional<std::int64_t> xoff_bytes, double pause_alpha,
             std::int64_t xon_gap_bytes, std::optional<std::int64_t> pause_ps,
             std::optional<std::int64_t> refresh_ps, std::optional<std::int64_t> watchdog_ps,
             std::int64_t watchdog_restore_ps, const std::vector<MarkingRule>& markings,
             const std::vector<std::uint32_t>& weights, std::optional<ParameterValues> rocc,
             bool has_telemetry, bool is_input_queued) {
            SwitchConfiguration configuration{.buffer = {}, .alpha = alpha};
            configuration.is_input_queued = is_input_queued;
            if (buffer_bytes) configuration.buffer = Bytes{*buffer_bytes};
            for (const MarkingRule& rule : markings) configuration.markings.push_back(marking_of(rule));
            std::copy(weights.begin(), weights.end(), configuration.weights.begin());
            configuration.rocc = std::move(rocc);
            configuration.has_telemetry = has_telemetry;
            if (lossless_priorities == 0) return self.engine.add_switch(name, configuration);
            configuration.pause = {.priorities = lossless_priorities,
                                   .alpha = pause_alpha,
                                   .xon_gap = {xon_gap_bytes},
                                   .duration = pause_ps ? Picoseconds{*pause_ps} : kNever,
                                   .refresh_every = refresh_ps ? Picoseconds{*refresh_ps} : kNever,
                                   .watchdog_after = watchdog_ps ? Picoseconds{*watchdog_ps} : kNever,
                                   .watchdog_restore = {watchdog_restore_ps}};
            if (xoff_bytes) configuration.pause->xoff = Bytes{*xoff_bytes};
            return self.engine.add_switch(name, configuration);
          },
          nb::kw_only(), nb::arg("name"), nb::arg("buffer_bytes").none(), nb::arg("alpha"),
          nb::arg("lossless_priorities") = 0, nb::arg("xoff_bytes") = nb::none(),
          nb::arg("pause_alpha") = 0.0, nb::arg("xon_gap_bytes") = 0, nb::arg("pause_ps") = nb::none(),
          nb::arg("refresh_ps") = nb::none(), nb::arg("watchdog_ps") = nb::none(),
          nb::arg("watchdog_restore_ps") = 0, nb::arg("markings") = std::vector<MarkingRule>{},
          nb::arg("weights") = std::vector<std::uint32_t>{}, nb::arg("rocc") = nb::none(),
          nb::arg("has_telemetry") = false, nb::arg("is_input_queued") = false)
      .def(
          "add_link",
          [](Bound& self, std::uint32_t a, std::uint32_t b, std::int64_t rate_bps, std::int64_t delay_ps,
             int loss_kind, std::int64_t loss_from_ns, std::optional<std::int64_t> loss_until_ns,
             double loss_probability, double good_loss_probability, double to_bad_probability,
             double to_good_probability, std::uint16_t identification_mask, std::int64_t headroom_a_bytes,
             std::int64_t headroom_b_bytes) {
            const LossConfiguration loss{
                .kind = static_cast<LossKind>(loss_kind),
                .from = Bound::to_picoseconds(loss_from_ns),
                .until = loss_until_ns ? Bound::to_picoseconds(*loss_until_ns) : kNever,
                .loss_probability = loss_probability,
                .good_loss_probability = good_loss_probability,
                .to_bad_probability = to_bad_probability,
                .to_good_probability = to_good_probability,
                .identification_mask = identification_mask};
            return self.engine.add_link(
                a, b, {{rate_bps}, {delay_ps}, loss, {headroom_a_bytes}, {headroom_b_bytes}});
          },
          nb::kw_only(), nb::arg("a"), nb::arg("b"), nb::arg("rate_bps"), nb::arg("delay_ps"),
          nb::arg("loss_kind") = 0, nb::arg("loss_from_ns") = 0, nb::arg("loss_until_ns") = nb::none(),
          nb::arg("loss_probability") = 0.0, nb::arg("good_loss_probability") = 0.0,
          nb::arg("to_bad_probability") = 0.0, nb::arg("to_good_probability") = 0.0,
          nb::arg("identification_mask") = 0, nb::arg("headroom_a_bytes") = 0,
          nb::arg("headroom_b_bytes") = 0)
      .def(
          "connect",
          [](nb::handle_t<Bound> self, std::uint32_t a, std::uint32_t b, std::vector<std::uint32_t> route_ab,
             std::vector<std::uint32_t> route_ba, std::uint32_t mtu_bytes, std::uint32_t ack_every_packets,
             std::uint32_t retry_count, std::uint32_t timeout_exponent, bool is_unreliable,
             std::optional<std::uint32_t> limiter_of, std::uint32_t priority, std::string control,
             ParameterValues control_parameters, std::uint32_t notification_priority,
             std::string reliability, ParameterValues reliability_parameters) {
            Bound* const session = nb::inst_ptr<Bound>(self);
            if (limiter_of) *limiter_of -= queue_pair_number(0);
            const std::uint32_t first = session->engine.connect(
                {a, b, std::move(route_ab), std::move(route_ba), mtu_bytes, ack_every_packets, retry_count,
                 timeout_exponent, is_unreliable, priority, std::move(control), std::move(control_parameters),
                 notification_priority, std::move(reliability), std::move(reliability_parameters),
                 limiter_of});
            const nb::object owner = nb::borrow(self);
            return nb::make_tuple(BoundQueuePair<EngineType>{{owner, session, first}},
                                  BoundQueuePair<EngineType>{{owner, session, first + 1}});
          },
          nb::kw_only(), nb::arg("a"), nb::arg("b"), nb::arg("route_ab"), nb::arg("route_ba"),
          nb::arg("mtu_bytes"), nb::arg("ack_every_packets"), nb::arg("retry_count"),
          nb::arg("timeout_exponent"), nb::arg("is_unreliable"), nb::arg("limiter_of").none(),
          nb::arg("priority"), nb::arg("control") = "", nb::arg("control_parameters") = ParameterValues{},
          nb::arg("notification_priority") = 0, nb::arg("reliability") = "",
          nb::arg("reliability_parameters") = ParameterValues{});
}

template <class EngineType, class Class>
void bind_datagrams(Class& engine) {
  using Bound = Session<EngineType>;
  engine
      .def(
          "add_datagram_queue_pair",
          [](Bound& self, std::uint32_t host) {
            return datagram_queue_pair_number(self.engine.add_datagram_queue_pair(host));
          },
          nb::arg("host"))
      .def(
          "attach_datagrams",
          [](Bound& self, std::uint32_t qp_num, nb::callable on_receives) {
            const std::uint32_t qp = qp_num - datagram_queue_pair_number(0);
            self.engine.mailbox().attach_datagrams(qp);
            self.hosts.attach_datagrams(qp, std::move(on_receives));
          },
          nb::arg("qp_num"), nb::arg("on_receives"))
      .def(
          "add_route",
          [](Bound& self, const std::vector<std::uint32_t>& links) { return self.engine.add_route(links); },
          nb::arg("links"))
      .def(
          "post_datagram",
          [](Bound& self, std::uint32_t qp_num, std::uint64_t wr_id, std::uint32_t destination_qp_num,
             std::uint32_t route, const nb::bytes& payload) {
            const std::uint32_t zero = datagram_queue_pair_number(0);
            self.engine.post_datagram({qp_num - zero, destination_qp_num - zero, route, wr_id,
                                       std::string(payload.c_str(), payload.size())});
          },
          nb::kw_only(), nb::arg("qp_num"), nb::arg("wr_id"), nb::arg("destination_qp_num"), nb::arg("route"),
          nb::arg("payload"));
}

template <class EngineType, class Class>
void bind_running(Class& engine) {
  using Bound = Session<EngineType>;
  engine.def("schedule", &Bound::call_once, nb::arg("host_ns"), nb::arg("callback"))
      .def(
          "timer",
          [](nb::handle_t<Bound> self, nb::callable callback) {
            Bound* const session = nb::inst_ptr<Bound>(self);
            const std::uint32_t timer = session->engine.create_timer();
            session->hosts.add_timer(timer, std::move(callback));
            return BoundTimer<EngineType>{{nb::borrow(self), session, timer}};
          },
          nb::arg("callback"))
      .def("run_until", &Bound::run_until, nb::arg("host_ns"))
      .def_prop_ro("now_ns", &Bound::now_ns)
      .def(
          "sample_throughput",
          [](Bound& self, std::int64_t interval_ns) {
            self.engine.sample_throughput(Bound::to_picoseconds(interval_ns));
          },
          nb::arg("interval_ns"))
      .def(
          "sample_queues",
          [](Bound& self, std::int64_t interval_ns) {
            self.engine.sample_queues(Bound::to_picoseconds(interval_ns));
          },
          nb::arg("interval_ns"))
      .def(
          "cut_link",
          [](Bound& self, std::uint32_t link, std::int64_t start_ns, std::int64_t end_ns) {
            self.engine.cut_link(link, Bound::to_picoseconds(start_ns), Bound::to_picoseconds(end_ns));
          },
          nb::kw_only(), nb::arg("link"), nb::arg("start_ns"), nb::arg("end_ns"))
      .def("record_oracle_rtt", [](Bound& self) { self.engine.recorder().record_oracle(); });
}

template <class EngineType, class Class>
void bind_results(Class& engine) {
  using Bound = Session<EngineType>;
  engine.def("throughput_columns", [](Bound& self) { return to_numpy(self.engine.recorder().throughput); })
      .def("queue_columns", [](Bound& self) { return to_numpy(self.engine.recorder().queues); })
      .def("oracle_columns", [](Bound& self) { return to_numpy(self.engine.recorder().oracle); })
      .def("pause_columns",
           [](Bound& self) {
             PauseState::Records records = self.engine.recorder().pauses;
             self.engine.add_open_pauses(records);
             return to_numpy(records);
           })
      .def("counters",
           [](Bound& self) {
             nb::list result;
             for (const Counter& counter : self.engine.counters()) {
               result.append(nb::make_tuple(counter.node, counter.port, counter.name, counter.value));
             }
             return result;
           })
      .def(
          "pause_switch",
          [](Bound& self, std::uint32_t host, bool is_pausing) {
            self.engine.pause_switch(host, is_pausing);
          },
          nb::arg("host"), nb::arg("is_pausing"))
      .def(
          "receive_slowly",
          [](Bound& self, std::uint32_t host, std::int64_t rate_bps, std::int64_t buffer_bytes,
             std::int64_t xoff_bytes, std::int64_t xon_bytes) {
            self.engine.receive_slowly(host, {{rate_bps}, {buffer_bytes}, {xoff_bytes}, {xon_bytes}});
          },
          nb::kw_only(), nb::arg("host"), nb::arg("rate_bps"), nb::arg("buffer_bytes"), nb::arg("xoff_bytes"),
          nb::arg("xon_bytes"))
      .def("waits",
           [](Bound& self) {
             nb::list result;
             for (const Wait& wait : self.engine.waits())
               result.append(nb::make_tuple(wait.link, wait.priority, wait.behind));
             return result;
           })
      .def("control_metrics", [](Bound& self) { return self.engine.control_metrics(); })
      .def("statistics",
           [](Bound& self) {
             const Statistics statistics = self.engine.statistics();
             nb::dict result;
             result["packet_hops"] = statistics.packet_hops;
             result["events"] = statistics.events;
             result["packets_live"] = statistics.packets_live;
             result["packets_pool_max"] = statistics.packets_pool_max;
             result["verbs_done"] = statistics.verbs_done;
             return result;
           })
      .def("check_invariants", [](Bound& self) { self.engine.check_invariants(); })
      .def("digest", [](Bound& self) { return hexadecimal(self.engine.recorder().digest()); });
}

template <class EngineType>
void bind_engine(nb::module_& module) {
  using Bound = Session<EngineType>;
  register_exceptions();
  bind_queue_pair<EngineType>(module);
  bind_timer<EngineType>(module);
  nb::class_<Bound> engine(module, "Engine", nb::type_slots(session_slots<EngineType>()),
                           "The event loop and all it moves.");
  engine.def(
      "__init__",
      [](Bound* self, std::uint64_t seed, std::uint32_t data_overhead_bytes,
         std::uint32_t first_overhead_bytes, std::uint32_t ack_frame_bytes, std::uint32_t wire_overhead_bytes,
         std::uint32_t datagram_overhead_bytes, std::uint32_t immediate_overhead_bytes) {
        new (self) Bound(seed, {data_overhead_bytes, first_overhead_bytes, ack_frame_bytes,
                                wire_overhead_bytes, datagram_overhead_bytes, immediate_overhead_bytes});
      },
      nb::kw_only(), nb::arg("seed"), nb::arg("data_overhead_bytes"), nb::arg("first_overhead_bytes"),
      nb::arg("ack_frame_bytes"), nb::arg("wire_overhead_bytes"), nb::arg("datagram_overhead_bytes") = 8,
      nb::arg("immediate_overhead_bytes") = 4);
  bind_topology<EngineType>(engine);
  bind_datagrams<EngineType>(engine);
  bind_memories<EngineType>(engine);
  bind_running<EngineType>(engine);
  bind_results<EngineType>(engine);
}

}  // namespace simulator
