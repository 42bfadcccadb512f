// Memory that grows without copying: the kernel moves its pages to a larger range of addresses.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace simulator {

class GrowingMemory {
 public:
  GrowingMemory() = default;
  ~GrowingMemory() { unmap(data_, bytes_); }
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;

  // Changes when the memory grows. Begins where a large page may.
  std::byte* data() const { return data_; }

  // Makes room for `bytes`; false, and nothing changes, if the system has no more. Pages take no memory before
  // they are used. Beyond one large page we ask for large ones, in which the processor finds a random address
  // sooner.
  [[nodiscard]] bool grow(std::size_t bytes) {
    std::byte* const place = map_aligned(bytes);
    if (place == nullptr) return false;
    constexpr int kFlags = MREMAP_MAYMOVE | MREMAP_FIXED;
    if (data_ != nullptr && mremap(data_, bytes_, bytes, kFlags, place) == MAP_FAILED) return false;
    data_ = place;
    bytes_ = bytes;
    if (bytes_ > kLargePageBytes) static_cast<void>(madvise(data_, bytes_, MADV_HUGEPAGE));
    return true;
  }

 private:
  static constexpr std::size_t kLargePageBytes = std::size_t{1} << 21;

  static std::byte* map_aligned(std::size_t bytes) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* const found = mmap(nullptr, bytes + kLargePageBytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
    if (found == MAP_FAILED) return nullptr;
    auto* const begin = static_cast<std::byte*>(found);
    const std::size_t before = (0 - reinterpret_cast<std::uintptr_t>(begin)) % kLargePageBytes;
    unmap(begin, before);
    unmap(begin + before + bytes, kLargePageBytes - before);
    return begin + before;
  }

  static void unmap(std::byte* begin, std::size_t bytes) {
    if (bytes > 0) munmap(begin, bytes);
  }

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace simulator
