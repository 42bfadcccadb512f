// Memory that grows in place: its addresses are set aside at once, its pages come when they are first used.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace simulator {

class ReservedMemory {
 public:
  static constexpr std::size_t kLargePageBytes = std::size_t{1} << 21;

  explicit ReservedMemory(std::size_t bytes_max) : bytes_max_(bytes_max) {
    void* const found = mmap(nullptr, bytes_max_ + kLargePageBytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) throw std::bad_alloc();
    found_ = static_cast<std::byte*>(found);
  }
  ~ReservedMemory() { munmap(found_, bytes_max_ + kLargePageBytes); }
  ReservedMemory(const ReservedMemory&) = delete;
  ReservedMemory& operator=(const ReservedMemory&) = delete;

  // Begins where a large page may.
  std::byte* data() const {
    const std::size_t behind = reinterpret_cast<std::uintptr_t>(found_) % kLargePageBytes;
    return found_ + (kLargePageBytes - behind);
  }

  // The first so many bytes may be used. From the second large page on they ask for large ones, in which a
  // random access finds its address sooner; who needs little gets little.
  void open(std::size_t bytes) {
    if (bytes > bytes_max_ || mprotect(data(), bytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (bytes > kLargePageBytes)
      static_cast<void>(madvise(data() + kLargePageBytes, bytes - kLargePageBytes, MADV_HUGEPAGE));
#endif
  }

 private:
  std::size_t bytes_max_;
  std::byte* found_;
};

}  // namespace simulator
