// The window of DCTCP: Reno's, but marks cut it by half the share of marked bytes.
// Source: RFC 8257, section 3.3; Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010, section 3.1. The
// least window of two segments is that of Linux (tcp_dctcp.c).
#pragma once

#include <cmath>

#include "tcp/kind.h"
#include "tcp/reno.h"

namespace simulator {

class DctcpWindow final : public RenoWindow {
 public:
  static constexpr bool kEchoesExactly = true;

  DctcpWindow(const ParameterValues& values, Bytes segment, Bytes initial_window)
      : RenoWindow(values, segment, initial_window), g_(values.at("g")), alpha_(values.at("initial_alpha")) {}

  // alpha = (1 - g) alpha + g F, F being the marked share of what the last window acknowledged.
  void on_acknowledged(const TcpProgress& progress) override {
    acknowledged_ += progress.acknowledged;
    if (progress.is_echo) marked_ += progress.acknowledged;
    if (progress.is_window_over && acknowledged_.value > 0) {
      const double share = static_cast<double>(marked_.value) / static_cast<double>(acknowledged_.value);
      alpha_ = (1 - g_) * alpha_ + g_ * share;
      acknowledged_ = marked_ = {};
    }
    RenoWindow::on_acknowledged(progress);
  }

  void on_marked() override {
    const double window = static_cast<double>(this->window().value) * (1 - alpha_ / 2);
    reduce_to(at_least(2, {static_cast<std::int64_t>(window)}));
  }

  std::map<std::string, double> metrics() const override { return {{"alpha", alpha_}}; }

 private:
  double g_;
  double alpha_;
  Bytes acknowledged_;  // in this window
  Bytes marked_;        // of that
};

// Sources: RFC 8257 (g, initial alpha); Alizadeh et al., SIGCOMM 2010, section 4 (timeout 10 ms). The delay of
// acknowledgements is half of it, as in the Datacenter template of Windows Server 2012 (10 of 20 ms).
inline constexpr auto kDctcpParameters = tcp_parameters(
    std::array<TcpChange, 3>{{{"rto_min_ns", 10e6}, {"delayed_ack_ns", 5e6}, {"ecn", 1}}},
    std::array<Parameter, 2>{{{"g", 1.0 / 16, 1e-9, 1, "weight of the last window's marks in alpha"},
                              {"initial_alpha", 1, 0, 1, "estimate of the marked share before any window"}}});

inline constexpr ReliabilityKind kDctcp = tcp<DctcpWindow>("dctcp", "Data Center TCP", kDctcpParameters);

}  // namespace simulator
