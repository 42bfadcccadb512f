// A congestion control in the NIC: it sets the rate of one queue pair. It does no I/O and keeps no clock: an
// engine tells it what left and what came back, and wakes it at `deadline()`.
#pragma once

#include <map>
#include <string>

#include "base/units.h"

namespace simulator {

class Controller {
 public:
  Controller() = default;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  virtual ~Controller() = default;

  // A congestion notification packet has come.
  virtual void on_cnp(Picoseconds now) = 0;

  // A packet of so many wire bytes has begun to leave.
  virtual void on_sent(Picoseconds now, Bytes wire) = 0;

  // Call when `deadline()` has come.
  virtual void on_timer(Picoseconds now) = 0;
  virtual Picoseconds deadline() const = 0;

  // Of wire bytes; no limit if it is not below the line rate.
  virtual BitsPerSecond rate() const = 0;

  // The receiving end sends notifications at most so often.
  virtual Picoseconds notification_gap() const = 0;

  // What it believes, by name with unit; for people and tests.
  virtual std::map<std::string, double> metrics(Picoseconds now) = 0;
};

}  // namespace simulator
