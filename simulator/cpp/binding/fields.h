// Fields of structs, and lists of parameters, as Python sees them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/fields.h"
#include "base/units.h"
#include "binding/host_software.h"
#include "cc/parameters.h"

namespace simulator {

// Configurations from Python: keywords, a dict, or an object with attributes. A table says which
// name belongs to which member; types and units follow from the member and from the end of the name.

namespace nb = nanobind;

template <class Value>
struct FromPython {
  static Value read(std::string_view name, nb::handle from) {
    if constexpr (std::is_enum_v<Value>) {
      return static_cast<Value>(FromPython<int>::read(name, from));
    } else {
      Value value;
      if (!nb::try_cast<Value>(from, value)) {
        const std::string got = nb::repr(from).c_str();
        throw nb::type_error((std::string(name) + " cannot be " + got).c_str());
      }
      return value;
    }
  }
};

template <class Tag>
struct FromPython<Quantity<Tag>> {
  static Quantity<Tag> read(std::string_view name, nb::handle from) {
    return {FromPython<std::int64_t>::read(name, from)};
  }
};

// None stands for never.
template <>
struct FromPython<Picoseconds> {
  static Picoseconds read(std::string_view name, nb::handle from) {
    if (from.is_none()) return kNever;
    const auto value = FromPython<std::int64_t>::read(name, from);
    return name.ends_with("_ns") ? to_picoseconds(value) : Picoseconds{value};
  }
};

template <class Value>
struct FromPython<std::optional<Value>> {
  static std::optional<Value> read(std::string_view name, nb::handle from) {
    if (from.is_none()) return {};
    return FromPython<Value>::read(name, from);
  }
};

template <HasFields Item>
struct FromPython<std::vector<Item>> {
  static std::vector<Item> read(std::string_view name, nb::handle from) {
    std::vector<Item> items;
    for (const nb::handle item : from) items.push_back(FromPython<Item>::read(name, item));
    return items;
  }
};

// Names that a dict lacks keep their defaults; an object must have all attributes.
template <HasFields Owner>
struct FromPython<Owner> {
  static Owner read(std::string_view, nb::handle from) {
    Owner owner;
    const auto read_field = [&]<class Member>(const Field<Owner, Member>& field) {
      const bool is_dict = nb::isinstance<nb::dict>(from);
      if (is_dict && !nb::borrow<nb::dict>(from).contains(field.name)) return std::size_t{0};
      const nb::object value = is_dict ? nb::object(from[field.name]) : nb::getattr(from, field.name);
      owner.*field.member = FromPython<Member>::read(field.name, value);
      return std::size_t{1};
    };
    const std::size_t found =
        std::apply([&](const auto&... field) { return (read_field(field) + ...); }, FieldsOf<Owner>::kTable);
    if (nb::isinstance<nb::dict>(from) && nb::len(from) != found)
      throw nb::type_error((std::string("a name is unknown among ") + nb::repr(from).c_str()).c_str());
    return owner;
  }
};

template <HasFields Owner>
Owner read_fields(nb::handle from) {
  return FromPython<Owner>::read({}, from);
}

inline nb::list parameter_list(std::span<const Parameter> table) {
  nb::list parameters;
  for (const Parameter& parameter : table) {
    parameters.append(nb::make_tuple(std::string(parameter.name), parameter.value, parameter.minimum,
                                     parameter.maximum, std::string(parameter.meaning)));
  }
  return parameters;
}

}  // namespace simulator
