// An object into the cache.
#pragma once

#include <cstddef>

namespace simulator {

inline constexpr std::size_t kLineBytes = 64;

// Always inline: otherwise gcc drops its calls, for it sees no effect.
[[gnu::always_inline]] inline void prefetch_lines(const void* object, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kLineBytes) {
    __builtin_prefetch(static_cast<const std::byte*>(object) + at);
  }
}

}  // namespace simulator
