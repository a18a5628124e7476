// While this lives no thread can be made: the stack that it would get is larger than any address
// space.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>

namespace bulkhead::testing {

class WithoutNewThreads {
 public:
  WithoutNewThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, size_t{1} << 60U);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
  }
  ~WithoutNewThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  WithoutNewThreads(const WithoutNewThreads&) = delete;
  WithoutNewThreads& operator=(const WithoutNewThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

}  // namespace bulkhead::testing
