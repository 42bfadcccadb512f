// Python objects that belong to an engine: they keep it alive, visibly for the garbage collector.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "binding/bound_engine.h"

namespace simulator {

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
