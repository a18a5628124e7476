#include "cli/log_time.h"

#include <fmt/format.h>

#include <charconv>
#include <ctime>

namespace bulkhead {
namespace {

using Clock = std::chrono::system_clock;

std::optional<int> number(std::string_view& text, size_t digits) {
  int value = 0;
  if (text.size() < digits) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
  if (error != std::errc() || end != text.data() + digits || text.front() == '-')
    return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

bool skip(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<Clock::time_point> parse_age(std::string_view text, Clock::time_point now) {
  int64_t amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  // Ten years, so that no product overflows.
  if (error != std::errc() || amount < 0 || amount > 315'360'000) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  if (unit == "s") return now - std::chrono::seconds(amount);
  if (unit == "m") return now - std::chrono::minutes(amount);
  if (unit == "h" && amount <= 87'600) return now - std::chrono::hours(amount);
  if (unit == "d" && amount <= 3'650) return now - std::chrono::hours(24 * amount);
  return std::nullopt;
}

}  // namespace

std::optional<Clock::time_point> parse_since(std::string_view text, Clock::time_point now) {
  if (const auto age = parse_age(text, now)) return age;
  struct tm fields = {};
  const auto year = number(text, 4);
  // What a clock that counts nanoseconds can tell.
  if (!year || *year < 1700 || *year > 2200 || !skip(text, "-")) return std::nullopt;
  const auto month = number(text, 2);
  if (!month || !skip(text, "-")) return std::nullopt;
  const auto day = number(text, 2);
  if (!day) return std::nullopt;
  fields.tm_year = *year - 1900;
  fields.tm_mon = *month - 1;
  fields.tm_mday = *day;
  if (!text.empty() && skip(text, "T ")) {
    const auto hour = number(text, 2);
    if (!hour || !skip(text, ":")) return std::nullopt;
    const auto minute = number(text, 2);
    if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
    fields.tm_hour = *hour;
    fields.tm_min = *minute;
    if (skip(text, ":")) {
      const auto second = number(text, 2);
      if (!second || *second > 60) return std::nullopt;
      fields.tm_sec = *second;
    }
  }
  const bool utc = skip(text, "Z");
  if (!text.empty()) return std::nullopt;
  fields.tm_isdst = -1;
  const struct tm wanted = fields;
  const time_t seconds = utc ? timegm(&fields) : mktime(&fields);
  // mktime moves the 31st of February to March: refuse what it had to move.
  if (seconds == -1 || fields.tm_mday != wanted.tm_mday || fields.tm_mon != wanted.tm_mon)
    return std::nullopt;
  return Clock::from_time_t(seconds);
}

std::string utc_text(Clock::time_point time) {
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  const time_t seconds = static_cast<time_t>(micros / 1'000'000);
  struct tm fields = {};
  gmtime_r(&seconds, &fields);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", fields.tm_year + 1900,
                     fields.tm_mon + 1, fields.tm_mday, fields.tm_hour, fields.tm_min,
                     fields.tm_sec, micros % 1'000'000);
}

std::string local_text(Clock::time_point time) {
  const time_t seconds = Clock::to_time_t(time);
  struct tm fields = {};
  localtime_r(&seconds, &fields);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", fields.tm_year + 1900,
                     fields.tm_mon + 1, fields.tm_mday, fields.tm_hour, fields.tm_min,
                     fields.tm_sec);
}

}  // namespace bulkhead
