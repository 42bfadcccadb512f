// The Python face of memories. Offsets have been checked by simulator/datagram.py.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include "binding/bound_engine.h"
#include "binding/table_to_numpy.h"

namespace simulator {

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

}  // namespace simulator
