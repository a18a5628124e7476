#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <type_traits>

namespace bulkhead {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return Error{"odd"};
  return value / 2;
}

Result<int> quarter(int value) {
  BULKHEAD_TRY(const int once, half(value));
  BULKHEAD_TRY(const int twice, half(once));
  return twice;
}

Status check_both(int a, int b) {
  const auto check = [](int value) -> Status {
    if (value < 0) return Error{"negative", EINVAL};
    return {};
  };
  BULKHEAD_CHECK(check(a));
  BULKHEAD_CHECK(check(b));
  return {};
}

TEST(Result, TryPassesValuesOnAndErrorsUp) {
  EXPECT_EQ(quarter(12).value(), 3);
  ASSERT_FALSE(quarter(6).ok());
  EXPECT_EQ(quarter(6).error().message, "odd");
}

TEST(Result, CheckReturnsTheFirstError) {
  EXPECT_TRUE(check_both(1, 2).ok());
  EXPECT_EQ(check_both(1, -1).error().errno_value, EINVAL);
}

TEST(Result, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Result, AskingForTheOtherSideThrows) {
  const Result<int> value = half(2), error = half(1);
  EXPECT_THROW(static_cast<void>(value.error()), std::bad_variant_access);
  EXPECT_THROW(static_cast<void>(error.value()), std::bad_variant_access);
}

TEST(Result, ErrnoErrorNamesThingAndCause) {
  EXPECT_EQ(errno_error("open /a", ENOENT).message, "cannot open /a: No such file or directory");
  errno = EACCES;
  const Error error = errno_error("open /b");
  EXPECT_EQ(error.errno_value, EACCES);
  EXPECT_EQ(error.message, "cannot open /b: Permission denied");
}

TEST(Diagnostic, PrintsWhatIsKnown) {
  Diagnostic diagnostic;
  diagnostic.message = "unknown name";
  EXPECT_EQ(to_string(diagnostic), "error: unknown name");
  diagnostic.file = "m.json";
  EXPECT_EQ(to_string(diagnostic), "m.json: error: unknown name");
  diagnostic.line = 3;
  diagnostic.column = 7;
  diagnostic.field = "files.raed";
  diagnostic.fix = "did you mean \"read\"?";
  diagnostic.severity = Diagnostic::Severity::kWarning;
  EXPECT_EQ(to_string(diagnostic),
            "m.json:3:7: warning: files.raed: unknown name (did you mean \"read\"?)");
  EXPECT_EQ(to_string(Error{"no", 0, {diagnostic, diagnostic}}),
            "no\n" + to_string(diagnostic) + "\n" + to_string(diagnostic));
}

static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);

}  // namespace
}  // namespace bulkhead
