// A cable is two links, one each way, with neighbouring numbers.
#pragma once

#include <cstdint>

namespace simulator {

constexpr std::uint32_t reverse_of(std::uint32_t link) {
  return link ^ 1;
}

}  // namespace simulator
