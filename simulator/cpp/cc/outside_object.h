// An object that somebody else wrote, with a table of calls: once it has raised, nothing calls it again.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cc/outside_control.h"
#include "rogue/plugin.h"

namespace simulator {

// `Kind` has the table that a file was compiled to, and the file.
template <class Kind>
class OutsideObject {
 public:
  OutsideObject(const OutsideObject&) = delete;
  OutsideObject& operator=(const OutsideObject&) = delete;

 protected:
  using Table = std::remove_cvref_t<decltype(*Kind::table)>;

  // `values` are those of all parameters, in the order of the table.
  template <class Place>
  OutsideObject(Kind kind, const std::vector<double>& values, const Place& place)
      : kind_(std::move(kind)), table_(*kind_.table) {
    rogue::abi::Fault fault;
    control_ = table_.create(values.data(), &place, &fault);
    if (control_ == nullptr) throw raised("its constructor", fault);
  }
  ~OutsideObject() {
    if (control_ != nullptr) table_.destroy(control_);
  }

  const Kind& kind() const { return kind_; }
  const Table& table() const { return table_; }

  // `invoke` makes one of the table's calls of the control.
  template <class Invoke>
  void call(const char* name, Invoke invoke) {
    if (!is_sound_) throw ControlError(kind_.file, own_name() + " has raised: the simulation cannot go on");
    is_sound_ = false;
    rogue::abi::Fault fault;
    if (invoke(control_, &fault) != 0) [[unlikely]]
      throw raised(name, fault);
    is_sound_ = true;
  }

  template <class Number>
  ControlError refused(const char* call, const std::string& expected, Number got) {
    is_sound_ = false;
    return {kind_.file, own_name() + "." + call + ": expected " + expected + ", got " + std::to_string(got)};
  }

 private:
  ControlError raised(const char* call, const rogue::abi::Fault& fault) const {
    std::string where = kind_.file;
    if (fault.line != 0) where.append(":").append(std::to_string(fault.line));
    return {where, std::string(call).append(": ").append(fault.text)};
  }
  std::string own_name() const { return table_.name; }

  Kind kind_;
  const Table& table_;
  void* control_ = nullptr;
  bool is_sound_ = true;
};

}  // namespace simulator
