// Common code of plug-ins in C++: parameters, random numbers, errors with their line, and their transfer to the
// simulator. The header of each kind (rogue/nic_control.h and others) includes it; do not include it directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <source_location>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rogue {

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();  // of a time

// A parameter, which an experiment may set; the unit is the end of its name.
struct Parameter {
  const char* name;
  double value;  // unless an experiment says otherwise
  double minimum;
  double maximum;
  const char* meaning;
};

// An error with the line that it is about.
class Failure : public std::runtime_error {
 public:
  Failure(const std::string& what, std::uint32_t line) : std::runtime_error(what), line_(line) {}
  std::uint32_t line() const { return line_; }

 private:
  std::uint32_t line_;
};

// Ends the simulation with a sentence that has the line of the call.
[[noreturn]] inline void fail(const std::string& what,
                              std::source_location where = std::source_location::current()) {
  throw Failure(what, where.line());
}

// The values of all parameters, checked against their bounds.
class Parameters {
 public:
  Parameters(std::span<const Parameter> table, const double* values) : table_(table), values_(values) {}

  double at(std::string_view name, std::source_location where = std::source_location::current()) const {
    for (std::size_t index = 0; index < table_.size(); ++index) {
      if (table_[index].name == name) return values_[index];
    }
    throw Failure("there is no parameter " + std::string(name), where.line());
  }
  // The same, of one that is a whole number.
  std::int64_t whole(std::string_view name,
                     std::source_location where = std::source_location::current()) const {
    return static_cast<std::int64_t>(at(name, where));
  }

 private:
  std::span<const Parameter> table_;
  const double* values_;
};

// Random numbers, the same in each run with the same seed. Source: Steele, Lea, Flood, "Fast splittable pseudorandom
// number generators", 2014 (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t state) : state_(state) {}

  std::uint64_t next_bits() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
  // Uniform in [0, 1).
  double next_fraction() { return static_cast<double>(next_bits() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

namespace abi {

// Filled in by a call that returns no success.
struct Fault {
  std::uint32_t line;  // 0: not known
  char text[512];
};

// As much of a text in UTF-8 as fits, without half a character at its end.
inline std::string_view fitting(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

// Runs a call, and keeps what it throws on this side.
template <class Call>
int call_guarded(Fault* fault, Call call) noexcept {
  const auto fill = [fault](std::string_view text, std::uint32_t line) {
    fault->line = line;
    fault->text[fitting(text, sizeof fault->text - 1).copy(fault->text, sizeof fault->text)] = '\0';
    return 1;
  };
  try {
    call();
    return 0;
  } catch (const Failure& failure) {
    return fill(failure.what(), failure.line());
  } catch (const std::exception& error) {
    return fill(error.what(), 0);
  } catch (...) {
    return fill("it threw what is no std::exception", 0);
  }
}

}  // namespace abi
}  // namespace rogue
