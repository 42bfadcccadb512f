// An engine that Python holds, and its parts.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/check.h"
#include "binding/host_software.h"
#include "protocol/framing.h"
#include "results/recorder.h"

namespace simulator {

// An engine together with its host software, as Python sees it.
template <class EngineType>
class BoundEngine {
 public:
  BoundEngine(std::uint64_t seed, const Framing& framing) : engine(seed, framing) {}

  // Runs to `host_ns` in slices, so that Ctrl-C works. Without host software other Python threads may run
  // meanwhile.
  void run_until(std::int64_t host_ns) {
    const Picoseconds limit = to_picoseconds(host_ns);
    if (is_running_)
      throw SimulationError("run_until was called by host software that run_until itself had called");
    if (is_closed_) throw SimulationError("run_until: expected an open simulation, got one that is closed");
    if (limit < engine.now()) {
      throw SimulationError("run_until: expected a time not before now (" + std::to_string(now_ns()) +
                            " ns), got " + std::to_string(host_ns) + " ns");
    }
    engine.require_no_switch_ahead("run_until", limit);  // after an exception
    const RunningFlag running(is_running_);
    for (RunState state; (state = run_slice(limit)) != RunState::kReachedLimit;) {
      // A slice may end within an instant, whose calls come after all else that happens then.
      if (state == RunState::kHostsWaiting) deliver_calls();
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
  }

  // Forgets the host software, which usually refers back to this engine.
  void close() {
    if (is_running_) throw SimulationError("close was called by host software that run_until had called");
    is_closed_ = true;
    hosts.clear();
  }

  std::int64_t now_ns() const { return engine.now().value / kPicosecondsPerNanosecond; }

  void call_once(std::int64_t host_ns, nb::object callback, bool in_step) {
    if (host_ns < now_ns()) {
      throw SimulationError("schedule: expected a time not before now (" + std::to_string(now_ns()) +
                            " ns), got " + std::to_string(host_ns) + " ns");
    }
    const Picoseconds at = to_picoseconds(host_ns);
    if (in_step) engine.keep_in_step_at(at);
    engine.call_once(hosts.add_once(std::move(callback)), at);
  }

  EngineType engine;
  HostSoftware hosts;

 private:
  static constexpr std::uint64_t kEventsPerSlice = 1U << 16;

  class RunningFlag {
   public:
    explicit RunningFlag(bool& flag) : flag_(flag) { flag_ = true; }
    ~RunningFlag() { flag_ = false; }
    RunningFlag(const RunningFlag&) = delete;
    RunningFlag& operator=(const RunningFlag&) = delete;

   private:
    bool& flag_;
  };

  RunState run_slice(Picoseconds limit) {
    if (!hosts.empty()) return engine.run(limit, kEventsPerSlice);
    const nb::gil_scoped_release release;
    return engine.run(limit, kEventsPerSlice);
  }

  void deliver_calls() {
    while (engine.mailbox().has_calls())
      hosts.deliver(engine.mailbox().take_call(), now_ns(), engine.mailbox());
  }

  bool is_running_ = false;
  bool is_closed_ = false;
};

// Python objects that belong to an engine: they keep it alive, visibly for the garbage collector.
template <class EngineType>
struct PartOfEngine {
  nb::object owner;  // the Python object of `bound`
  BoundEngine<EngineType>* bound;
  std::uint32_t index;

  EngineType& engine() const { return bound->engine; }
};

template <class Part>
PyType_Slot* part_slots() {
  static PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(+[](PyObject* self, visitproc visit, void* arg) -> int {
         Py_VISIT(Py_TYPE(self));
         if (!nb::inst_ready(self)) return 0;
         Py_VISIT(nb::inst_ptr<Part>(self)->owner.ptr());
         return 0;
       })},
      {Py_tp_clear, reinterpret_cast<void*>(+[](PyObject* self) -> int {
         nb::inst_ptr<Part>(self)->owner.reset();
         return 0;
       })},
      {0, nullptr}};
  return slots;
}

template <class EngineType>
PyType_Slot* bound_engine_slots() {
  static PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(+[](PyObject* self, visitproc visit, void* arg) -> int {
         Py_VISIT(Py_TYPE(self));
         if (!nb::inst_ready(self)) return 0;
         return nb::inst_ptr<BoundEngine<EngineType>>(self)->hosts.traverse(visit, arg);
       })},
      {Py_tp_clear, reinterpret_cast<void*>(+[](PyObject* self) -> int {
         nb::inst_ptr<BoundEngine<EngineType>>(self)->hosts.clear();
         return 0;
       })},
      {0, nullptr}};
  return slots;
}

template <class Part>
auto figures_of(Part& part) {
  return part.engine().queue_pair_figures(part.index);
}

}  // namespace simulator
