#include "binding/engine_binding.h"
#include "reference_engine/engine.h"
#include "reference_engine/reliability_binding.h"

NB_MODULE(_reference, module) {
  module.doc() =
      "An eager engine to compare the packet engine with, and parts of transports without a network.";
  simulator::bind_engine<simulator::reference::Engine>(module);
  simulator::bind_requester(module);
  simulator::bind_responder(module);
  simulator::bind_tcp_window(module);
}
