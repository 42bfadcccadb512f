// Python names of the fields of configurations: keywords of simulator/_core.pyi, and attributes of the
// classes in simulator/profiles.py and simulator/framing.py.
#pragma once

#include <tuple>

#include "base/configuration.h"
#include "binding/control_maker.h"
#include "binding/controls_binding.h"
#include "binding/fields.h"
#include "protocol/framing.h"

namespace simulator {

template <>
struct FieldsOf<Framing> {
  static constexpr auto kTable =
      std::tuple(Field{"data_overhead_bytes", &Framing::data_overhead_bytes},
                 Field{"first_overhead_bytes", &Framing::first_overhead_bytes},
                 Field{"ack_frame_bytes", &Framing::ack_frame_bytes},
                 Field{"wire_overhead_bytes", &Framing::wire_overhead_bytes},
                 Field{"datagram_overhead_bytes", &Framing::datagram_overhead_bytes},
                 Field{"immediate_overhead_bytes", &Framing::immediate_overhead_bytes});
};

template <>
struct FieldsOf<RetryRules> {
  static constexpr auto kTable = std::tuple(Field{"refills_per_verb", &RetryRules::refills_per_verb},
                                            Field{"ignores_naks", &RetryRules::ignores_naks},
                                            Field{"is_endless_at_seven", &RetryRules::is_endless_at_seven},
                                            Field{"waits_at_read_gap", &RetryRules::waits_at_read_gap},
                                            Field{"keeps_ack_count", &RetryRules::keeps_ack_count});
};

template <>
struct FieldsOf<NicProfile> {
  static constexpr auto kTable = std::tuple(
      Field{"limiters", &NicProfile::limiters}, Field{"rate_step_bps", &NicProfile::rate_step},
      Field{"actuation_lag_bytes_max", &NicProfile::actuation_lag_max},
      Field{"clock_drift_ppm_max", &NicProfile::clock_drift_ppm_max},
      Field{"withholds_next_verb", &NicProfile::withholds_next_verb},
      Field{"unacknowledged_packets_max", &NicProfile::unacknowledged_packets_max},
      Field{"packets_after_nak_max", &NicProfile::packets_after_nak_max},
      Field{"pci_rc_ns", &NicProfile::pci_rc_ns}, Field{"pci_uc_ns", &NicProfile::pci_uc_ns},
      Field{"pci_late_ns", &NicProfile::pci_late_ns},
      Field{"pci_late_probability", &NicProfile::pci_late_probability},
      Field{"retry_rules", &NicProfile::retrying}, Field{"nak_delay_ns", &NicProfile::nak_delay},
      Field{"cnp_delay_ns", &NicProfile::cnp_delay}, Field{"resend_delay_ns", &NicProfile::resend_delay},
      Field{"cnp_interval_ns", &NicProfile::cnp_interval}, Field{"cnp_scope_number", &NicProfile::cnp_scope},
      Field{"cnp_with_nak", &NicProfile::cnp_with_nak}, Field{"timeout_min_ns", &NicProfile::timeout_min});
};

template <>
struct FieldsOf<PauseConfiguration> {
  using Pause = PauseConfiguration;
  static constexpr auto kTable =
      std::tuple(Field{"priorities", &Pause::priorities}, Field{"xoff_bytes", &Pause::xoff},
                 Field{"alpha", &Pause::alpha}, Field{"xon_gap_bytes", &Pause::xon_gap},
                 Field{"duration_ns", &Pause::duration}, Field{"refresh_every_ns", &Pause::refresh_every},
                 Field{"watchdog_after_ns", &Pause::watchdog_after},
                 Field{"watchdog_restore_ns", &Pause::watchdog_restore});
};

template <>
struct FieldsOf<MarkingConfiguration> {
  using Marking = MarkingConfiguration;
  static constexpr auto kTable = std::tuple(
      Field{"priorities", &Marking::priorities}, Field{"kmin_bytes", &Marking::minimum},
      Field{"kmax_bytes", &Marking::maximum}, Field{"pmax", &Marking::probability},
      Field{"average_weight", &Marking::average_weight}, Field{"is_at_departure", &Marking::is_at_departure},
      Field{"drops_above", &Marking::drops_above}, Field{"drops_instead", &Marking::drops_instead},
      Field{"spares_hosts", &Marking::spares_hosts});
};

template <>
struct FieldsOf<TrimmingConfiguration> {
  using Trimming = TrimmingConfiguration;
  static constexpr auto kTable =
      std::tuple(Field{"above_bytes", &Trimming::above}, Field{"priority", &Trimming::priority},
                 Field{"by_coin", &Trimming::by_coin});
};

template <>
struct FieldsOf<SwitchConfiguration> {
  using Switch = SwitchConfiguration;
  static constexpr auto kTable = std::tuple(
      Field{"buffer_bytes", &Switch::buffer}, Field{"alpha", &Switch::alpha}, Field{"pause", &Switch::pause},
      Field{"markings", &Switch::markings}, Field{"weights", &Switch::weights}, Field{"rocc", &Switch::rocc},
      Field{"is_input_queued", &Switch::is_input_queued}, Field{"has_telemetry", &Switch::has_telemetry},
      Field{"trimming", &Switch::trimming}, Field{"aqm", &Switch::aqm},
      Field{"port_selector", &Switch::port_selector}, Field{"thresholds_at_bps", &Switch::thresholds_at});
};

template <>
struct FieldsOf<LossConfiguration> {
  using Loss = LossConfiguration;
  static constexpr auto kTable = std::tuple(
      Field{"kind", &Loss::kind}, Field{"from_ns", &Loss::from}, Field{"until_ns", &Loss::until},
      Field{"loss_probability", &Loss::loss_probability},
      Field{"good_loss_probability", &Loss::good_loss_probability},
      Field{"to_bad_probability", &Loss::to_bad_probability},
      Field{"to_good_probability", &Loss::to_good_probability}, Field{"ip_id_mask", &Loss::ip_id_mask});
};

template <>
struct FieldsOf<LinkConfiguration> {
  using Link = LinkConfiguration;
  static constexpr auto kTable =
      std::tuple(Field{"rate_bps", &Link::rate}, Field{"delay_ps", &Link::delay}, Field{"loss", &Link::loss},
                 Field{"headroom_a_bytes", &Link::headroom_a}, Field{"headroom_b_bytes", &Link::headroom_b});
};

template <>
struct FieldsOf<ConnectionConfiguration> {
  using Connection = ConnectionConfiguration;
  static constexpr auto kTable = std::tuple(
      Field{"a", &Connection::host_a}, Field{"b", &Connection::host_b},
      Field{"route_ab", &Connection::route_ab}, Field{"route_ba", &Connection::route_ba},
      Field{"mtu_bytes", &Connection::mtu_bytes}, Field{"ack_every_packets", &Connection::ack_every_packets},
      Field{"retry_count", &Connection::retry_count},
      Field{"timeout_exponent", &Connection::timeout_exponent},
      Field{"is_unreliable", &Connection::is_unreliable}, Field{"priority", &Connection::priority},
      Field{"control", &Connection::control}, Field{"control_parameters", &Connection::control_parameters},
      Field{"control_maker", &Connection::control_maker}, Field{"cnp_priority", &Connection::cnp_priority},
      Field{"base_rtt_ab_ps", &Connection::base_rtt_ab}, Field{"base_rtt_ba_ps", &Connection::base_rtt_ba},
      Field{"reliability", &Connection::reliability},
      Field{"reliability_parameters", &Connection::reliability_parameters},
      Field{"receiver_maker", &Connection::receiver_maker},
      Field{"acknowledgement_priority", &Connection::acknowledgement_priority},
      Field{"path_seed", &Connection::path_seed}, Field{"spray_paths", &Connection::spray_paths},
      Field{"limiter_of", &Connection::limiter_of});
};

}  // namespace simulator
