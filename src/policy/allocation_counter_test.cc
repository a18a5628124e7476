// Counts the allocations of the whole test program. In a file of its own: the compiler would
// otherwise inline one half of a replaced pair and warn of the other.
#include "policy/allocation_counter.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<size_t> count{0};
}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

// The sanitizer keeps its own operators, which check more than replaced ones would.
// Declared by hand because Debian's g++ ships without <sanitizer/allocator_interface.h>.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*,
                                                                           size_t),
                                                         void (*on_free)(const volatile void*));

namespace {
void on_malloc(const volatile void*, size_t) { count.fetch_add(1, std::memory_order_relaxed); }
void on_free(const volatile void*) {}
[[maybe_unused]] const int installed =
    __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
}  // namespace

#else

namespace {
void* allocate(size_t size) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size == 0 ? 1 : size);
}
void* allocate_or_abort(size_t size) noexcept {
  void* memory = allocate(size);
  if (memory == nullptr) std::abort();
  return memory;
}
}  // namespace

void* operator new(size_t size) { return allocate_or_abort(size); }
void* operator new[](size_t size) { return allocate_or_abort(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

#endif

namespace bulkhead::testing {

size_t allocations() { return count.load(std::memory_order_relaxed); }

}  // namespace bulkhead::testing
