// init's half of orders.h: neither heap nor library.
#include <cstring>
#include <new>

#include "sandbox/launch/orders.h"

namespace bulkhead {
namespace {

class Reader {
 public:
  Reader(std::span<const char> text, std::span<char> room) : text_(text), room_(room) {}

  bool is_whole() const { return !broken_ && at_ == text_.size(); }

  void operator()(uint64_t& number) {
    number = 0;
    if (const char* bytes = take(sizeof number)) std::memcpy(&number, bytes, sizeof number);
  }
  void operator()(const char*& text) {
    uint64_t size = 0;
    (*this)(size);
    text = "";
    // One more than its bytes; so the sum must not run over.
    const char* bytes = size < text_.size() ? take(size + 1) : nullptr;
    if (bytes == nullptr || bytes[size] != '\0' || std::memchr(bytes, '\0', size) != nullptr)
      broken_ = true;
    else
      text = bytes;
  }
  template <class T>
  void operator()(std::span<T>& list) {
    uint64_t count = 0;
    (*this)(count);
    list = {};
    T* const items = broken_ ? nullptr : room_for<T>(count);
    for (uint64_t i = 0; items != nullptr && i < count && !broken_; ++i)
      one(*::new (items + i) T());
    if (items == nullptr)
      broken_ = true;
    else if (!broken_)
      list = {items, count};
  }

 private:
  template <class T>
  void one(T& item) {
    fields(*this, item);
  }
  void one(const char*& text) { (*this)(text); }

  const char* take(uint64_t size) {
    if (broken_ || size > text_.size() - at_) {
      broken_ = true;
      return nullptr;
    }
    at_ += size;
    return text_.data() + at_ - size;
  }
  // And for one more, which is zero: the room is fresh.
  template <class T>
  T* room_for(uint64_t count) {
    static_assert(alignof(T) <= 8 && sizeof(T) % 4 == 0);
    used_ = (used_ + 7) & ~size_t{7};
    if (used_ > room_.size() || count >= (room_.size() - used_) / sizeof(T)) return nullptr;
    T* const items = reinterpret_cast<T*>(room_.data() + used_);
    used_ += (count + 1) * sizeof(T);
    return items;
  }

  std::span<const char> text_;
  std::span<char> room_;
  size_t at_ = 0, used_ = 0;
  bool broken_ = false;
};

}  // namespace

bool read_orders(std::span<const char> text, std::span<char> room, Orders<Read>& orders) noexcept {
  Reader reader(text, room);
  fields(reader, orders);
  return reader.is_whole();
}

}  // namespace bulkhead
