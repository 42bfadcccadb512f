// Bindings of an engine: the Python classes Engine, QueuePair and Timer of a module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "binding/bound_engine.h"
#include "binding/configuration_fields.h"
#include "binding/control_maker.h"
#include "binding/queue_pair_binding.h"
#include "binding/table_to_numpy.h"
#include "protocol/fault.h"
#include "protocol/framing.h"
#include "protocol/pause_state.h"
#include "protocol/queue_pair.h"
#include "results/packet_log.h"
#include "results/recorder.h"

namespace simulator {

template <class EngineType>
struct BoundTimer : PartOfEngine<EngineType> {};

// C++ exceptions become the classes of simulator/errors.py.
inline void register_exceptions() {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    const auto raise = [](const char* name, const char* message) {
      PyErr_SetString(nb::module_::import_("rogue.simulator.errors").attr(name).ptr(), message);
    };
    const auto raise_parameter = [](const ParameterError& error) {
      const nb::object type = nb::module_::import_("rogue.simulator.errors").attr("SimulationError");
      PyErr_SetObject(type.ptr(), type(error.what(), error.expected(), error.got()).ptr());
    };
    const auto raise_control = [](const ControlError& error) {
      const nb::object type = nb::module_::import_("rogue.simulator.errors").attr("ControlError");
      PyErr_SetObject(type.ptr(), type(plugin_text(error.what()), plugin_text(error.place())).ptr());
    };
    try {
      std::rethrow_exception(pointer);
    } catch (const ControlError& error) {
      raise_control(error);
    } catch (const ParameterError& error) {
      raise_parameter(error);
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
            timer.engine().set_timer(timer.index, to_picoseconds(host_ns));
          },
          nb::arg("host_ns"))
      .def("cancel", [](const Timer& timer) { timer.engine().cancel_timer(timer.index); });
}

template <class EngineType>
nb::tuple connect(nb::handle_t<BoundEngine<EngineType>> self, const nb::kwargs& values) {
  auto* const bound = nb::inst_ptr<BoundEngine<EngineType>>(self);
  auto configuration = read_fields<ConnectionConfiguration>(values);
  if (configuration.limiter_of) *configuration.limiter_of -= queue_pair_number(0);
  const std::uint32_t first = bound->engine.connect(configuration);
  const nb::object owner = nb::borrow(self);
  return nb::make_tuple(BoundQueuePair<EngineType>{{owner, bound, first}},
                        BoundQueuePair<EngineType>{{owner, bound, first + 1}});
}

template <class EngineType, class Class>
void bind_topology(Class& engine) {
  using Bound = BoundEngine<EngineType>;
  engine
      .def(
          "add_host",
          [](Bound& self, const std::string& name, nb::handle profile) {
            return self.engine.add_host(name, read_fields<NicProfile>(profile));
          },
          nb::arg("name"), nb::arg("profile"))
      .def(
          "add_switch",
          [](Bound& self, const std::string& name, const nb::kwargs& values) {
            return self.engine.add_switch(name, read_fields<SwitchConfiguration>(values));
          },
          nb::arg("name"), nb::arg("values"))
      .def(
          "add_link",
          [](Bound& self, std::uint32_t a, std::uint32_t b, const nb::kwargs& values) {
            return self.engine.add_link(a, b, read_fields<LinkConfiguration>(values));
          },
          nb::arg("a"), nb::arg("b"), nb::arg("values"))
      .def("connect", &connect<EngineType>)
      .def(
          "find_route",
          [](Bound& self, std::uint32_t source, std::uint32_t destination, std::uint64_t entropy) {
            return self.engine.find_route(source, destination, entropy);
          },
          nb::arg("source"), nb::arg("destination"), nb::arg("entropy"));
}

template <class EngineType, class Class>
void bind_datagrams(Class& engine) {
  using Bound = BoundEngine<EngineType>;
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

// Offsets have been checked by simulator/datagram.py.
template <class EngineType, class Class>
void bind_memories(Class& engine) {
  using Bound = BoundEngine<EngineType>;
  engine
      .def(
          "add_memory",
          [](Bound& self, std::uint32_t host, std::int64_t size_bytes, std::optional<std::uint64_t> seed) {
            return self.engine.add_memory(host, size_bytes, seed);
          },
          nb::kw_only(), nb::arg("host"), nb::arg("size_bytes"), nb::arg("seed").none())
      .def(
          "read_memory",
          [](Bound& self, std::uint32_t memory, std::size_t offset, std::size_t length_bytes) {
            return nb::bytes(self.engine.memories().bytes(memory).data() + offset, length_bytes);
          },
          nb::arg("memory"), nb::arg("offset"), nb::arg("length_bytes"))
      .def(
          "write_memory",
          [](Bound& self, std::uint32_t memory, std::size_t offset, const nb::bytes& data) {
            std::memcpy(self.engine.memories().bytes(memory).data() + offset, data.c_str(), data.size());
          },
          nb::arg("memory"), nb::arg("offset"), nb::arg("data"))
      .def("record_memory_writes", [](Bound& self) { self.engine.memories().record(); })
      .def("memory_write_columns", [](Bound& self) { return to_numpy(self.engine.memories().writes); });
}

// The fault of that name with its fields; a name or a field that is unknown is a TypeError.
template <std::size_t index = 0>
Fault read_fault(std::string_view name, nb::handle values) {
  if constexpr (index == std::variant_size_v<Fault>) {
    throw nb::type_error(("no fault is called " + std::string(name)).c_str());
  } else {
    using Kind = std::variant_alternative_t<index, Fault>;
    return name == Kind::kName ? read_fields<Kind>(values) : read_fault<index + 1>(name, values);
  }
}

template <class EngineType, class Class>
void bind_running(Class& engine) {
  using Bound = BoundEngine<EngineType>;
  engine
      .def("schedule", &Bound::call_once, nb::arg("host_ns"), nb::arg("callback"), nb::arg("in_step") = false)
      .def(
          "run_ahead_from", [](Bound& self, std::size_t ports) { self.engine.run_ahead_from(ports); },
          nb::arg("ports"))
      .def(
          "timer",
          [](nb::handle_t<Bound> self, nb::callable callback) {
            Bound* const bound = nb::inst_ptr<Bound>(self);
            const std::uint32_t timer = bound->engine.create_timer();
            bound->hosts.add_timer(timer, std::move(callback));
            return BoundTimer<EngineType>{{nb::borrow(self), bound, timer}};
          },
          nb::arg("callback"))
      .def("run_until", &Bound::run_until, nb::arg("host_ns"))
      .def("close", &Bound::close)
      .def_prop_ro("now_ns", &Bound::now_ns)
      .def(
          "sample_throughput",
          [](Bound& self, std::int64_t interval_ns) {
            self.engine.sample_throughput(to_picoseconds(interval_ns));
          },
          nb::arg("interval_ns"))
      .def(
          "sample_queues",
          [](Bound& self, std::int64_t interval_ns) {
            self.engine.sample_queues(to_picoseconds(interval_ns));
          },
          nb::arg("interval_ns"))
      .def(
          "record_packets",
          [](Bound& self, const nb::kwargs& values) {
            self.engine.record_packets(read_fields<PacketLogSettings>(values));
          },
          nb::arg("values"))
      .def(
          "inject",
          [](Bound& self, const std::string& fault, const nb::kwargs& values) {
            self.engine.inject(read_fault(fault, values));
          },
          nb::arg("fault"), nb::arg("values"))
      .def("record_oracle_rtt", [](Bound& self) { self.engine.recorder().record_oracle(); });
}

struct CounterRow {
  std::uint32_t link = 0;
  std::uint32_t qp_num = 0;
  std::uint32_t name = 0;  // its place in the list of names
  std::int64_t value = 0;
};
template <>
struct FieldsOf<CounterRow> {
  using Row = CounterRow;
  static constexpr auto kTable = std::tuple(Field{"link", &Row::link}, Field{"qp_num", &Row::qp_num},
                                            Field{"name", &Row::name}, Field{"value", &Row::value});
};

// The counters, and the list of their names: a name has one Python object, however many counters have it.
inline nb::tuple counter_columns(const std::vector<Counter>& counters) {
  std::vector<CounterRow> rows;
  std::map<std::string_view, std::uint32_t> numbers;
  nb::list names;
  for (const Counter& counter : counters) {
    const auto [found, is_new] =
        numbers.try_emplace(counter.name, static_cast<std::uint32_t>(numbers.size()));
    if (is_new) names.append(counter.name);
    rows.push_back(
        {.link = counter.link, .qp_num = counter.qp_num, .name = found->second, .value = counter.value});
  }
  return nb::make_tuple(to_numpy(rows), names);
}

template <class EngineType, class Class>
void bind_results(Class& engine) {
  using Bound = BoundEngine<EngineType>;
  engine
      .def("throughput_columns",
           [](Bound& self) {
             std::vector<DeliverySample> rows = self.engine.recorder().throughput;
             self.engine.add_open_interval(rows);
             return to_numpy(rows);
           })
      .def("queue_columns", [](Bound& self) { return to_numpy(self.engine.recorder().queues); })
      .def("oracle_columns", [](Bound& self) { return to_numpy(self.engine.recorder().oracle); })
      .def("packet_columns", [](Bound& self) { return to_numpy(self.engine.recorder().packets.rows); })
      .def("packet_event_times_ps",
           [](Bound& self) {
             nb::list result;
             for (const Picoseconds at : self.engine.packet_event_times())
               result.append(at == kNever ? nb::object(nb::none()) : nb::object(nb::int_(at.value)));
             return result;
           })
      .def("packets_missed", [](Bound& self) { return self.engine.recorder().packets.missed(); })
      .def("pause_columns",
           [](Bound& self) {
             PauseState::Records records = self.engine.recorder().pauses;
             self.engine.add_open_pauses(records);
             return to_numpy(records);
           })
      .def("counter_columns", [](Bound& self) { return counter_columns(self.engine.counters()); })
      .def("waits",
           [](Bound& self) {
             nb::list result;
             for (const Wait& wait : self.engine.waits())
               result.append(nb::make_tuple(wait.link, wait.priority, wait.behind));
             return result;
           })
      .def("control_metrics",
           [](Bound& self) {
             nb::dict result;
             for (const auto& [qp_num, metrics] : self.engine.control_metrics())
               result[nb::int_(qp_num)] = plugin_metrics(metrics);
             return result;
           })
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
  using Bound = BoundEngine<EngineType>;
  register_exceptions();
  bind_queue_pair<EngineType>(module);
  bind_timer<EngineType>(module);
  nb::class_<Bound> engine(module, "Engine", nb::type_slots(bound_engine_slots<EngineType>()),
                           "The event loop and all it moves.");
  engine.def(
      "__init__",
      [](Bound* self, std::uint64_t seed, nb::handle framing) {
        new (self) Bound(seed, read_fields<Framing>(framing));
      },
      nb::kw_only(), nb::arg("seed"), nb::arg("framing"));
  bind_topology<EngineType>(engine);
  bind_datagrams<EngineType>(engine);
  bind_memories<EngineType>(engine);
  bind_running<EngineType>(engine);
  bind_results<EngineType>(engine);
}

}  // namespace simulator
