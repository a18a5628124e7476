// The host's half of orders.h.
#include "sandbox/launch/orders.h"

namespace bulkhead {
namespace {

class Writer {
 public:
  void operator()(const uint64_t& number) {
    text_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void operator()(const std::string& text) {
    (*this)(uint64_t{text.size()});
    text_.append(text.c_str(), text.size() + 1);
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    (*this)(uint64_t{list.size()});
    for (T& item : list) one(item);
  }

  std::string take() { return std::move(text_); }

 private:
  template <class T>
  void one(T& item) {
    fields(*this, item);
  }
  void one(std::string& text) { (*this)(text); }

  std::string text_;
};

}  // namespace

std::string write_orders(Orders<Written>& orders) {
  Writer writer;
  fields(writer, orders);
  return writer.take();
}

}  // namespace bulkhead
