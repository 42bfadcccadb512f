// Errors: SimulationError is the caller's fault, InvariantViolation is ours.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/units.h"

namespace simulator {

class SimulationError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// Parameters that cannot be, alone or beside each other.
class ParameterError : public SimulationError {
 public:
  ParameterError(std::string_view owner, std::string expected, std::string got)
      : SimulationError(std::string(owner) + ": expected " + expected + ", got " + got),
        expected_(std::move(expected)),
        got_(std::move(got)) {}

  const std::string& expected() const { return expected_; }
  const std::string& got() const { return got_; }

 private:
  std::string expected_;
  std::string got_;
};

// A verb was posted on a queue pair that cannot take it.
class QueuePairError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class InvariantViolation : public std::logic_error {
 public:
  InvariantViolation(Picoseconds at, const std::string& element, std::string_view broken)
      : std::logic_error("at " + std::to_string(at.value) + " ps, " + element + ": " + std::string(broken)) {}
};

}  // namespace simulator

// `element` is only evaluated when the check fails, so it may build a string.
#define SIM_CHECK(condition, at, element, broken)                       \
  do {                                                                  \
    if (!(condition)) [[unlikely]]                                      \
      throw ::simulator::InvariantViolation((at), (element), (broken)); \
  } while (false)
