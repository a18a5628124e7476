#include "vscode/seal.h"

#include <gtest/gtest.h>

namespace bulkhead {
namespace {

// As vscode/launcher/start.test.mjs has it.
TEST(Seal, TellsWhoseALineIsAndNotTheKey) {
  EXPECT_EQ(sealed("4f", "bulkhead host: ended"),
            "2b2b6886afa0aa02cd262e1efc91afb131f15604eb430d33b5d39906728bfb39"
            "bulkhead host: ended");
  EXPECT_EQ(sealed("", "bulkhead host: ended"), "bulkhead host: ended");
}

}  // namespace
}  // namespace bulkhead
