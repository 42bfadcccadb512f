#include "binding/control_maker.h"
#include "binding/controls_binding.h"
#include "binding/engine_binding.h"
#include "binding/reliability_binding.h"
#include "engine/engine.h"

NB_MODULE(_core, module) {
  module.doc() = "The packet engine: lazy links over a winner tree.";
  simulator::bind_engine<simulator::Engine>(module);
  simulator::bind_plugins(module);
  simulator::bind_controllers(module);
  simulator::bind_reliabilities(module);
}
