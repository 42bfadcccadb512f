// Memory that grows in place: its addresses are set aside at once, its pages come when they are first used.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace simulator {

class ReservedMemory {
 public:
  static constexpr std::size_t kLargePageBytes = std::size_t{1} << 21;

  // At most so many bytes: half of them, again and again, while the system has no addresses for more.
  explicit ReservedMemory(std::size_t bytes_max) : bytes_max_(bytes_max) {
    while ((found_ = reserve(bytes_max_ + kLargePageBytes)) == nullptr && bytes_max_ > 0) bytes_max_ /= 2;
  }
  ~ReservedMemory() {
    if (found_ != nullptr) munmap(found_, bytes_max_ + kLargePageBytes);
  }
  ReservedMemory(const ReservedMemory&) = delete;
  ReservedMemory& operator=(const ReservedMemory&) = delete;

  // Begins where a large page may.
  std::byte* data() const {
    const std::size_t behind = reinterpret_cast<std::uintptr_t>(found_) % kLargePageBytes;
    return found_ + (kLargePageBytes - behind);
  }

  // From now on the first so many bytes may be used; false if the system has no more. From the second large
  // page on they ask for large ones, in which a random access finds its address sooner; who needs little gets
  // little.
  [[nodiscard]] bool open(std::size_t bytes) {
    if (bytes > bytes_max_ || mprotect(data(), bytes, PROT_READ | PROT_WRITE) != 0) return false;
#ifdef MADV_HUGEPAGE
    if (bytes > kLargePageBytes)
      static_cast<void>(madvise(data() + kLargePageBytes, bytes - kLargePageBytes, MADV_HUGEPAGE));
#endif
    return true;
  }

 private:
  // Addresses that nothing can be read or written at, and that count as no memory.
  static std::byte* reserve(std::size_t bytes) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;
#endif
    void* const found = mmap(nullptr, bytes, PROT_NONE, flags, -1, 0);
    return found == MAP_FAILED ? nullptr : static_cast<std::byte*>(found);
  }

  std::size_t bytes_max_;
  std::byte* found_ = nullptr;
};

}  // namespace simulator
