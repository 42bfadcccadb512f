#include "binding/engine_binding.h"
#include "reference_engine/engine.h"

NB_MODULE(_reference, module) {
  module.doc() = "An eager engine that tests compare the packet engine with.";
  simulator::bind_engine<simulator::reference::Engine>(module);
}
