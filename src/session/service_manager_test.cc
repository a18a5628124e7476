#include "session/service_manager.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/fd.h"

namespace bulkhead {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

enum class Manner { kAccepts, kRefuses, kKeepsSilent, kGreetsAndKeepsSilent, kHangsUp, kBabbles };

// A bus with the manager on it, as far as one call needs them
// (https://dbus.freedesktop.org/doc/dbus-specification.html).
class FakeBus {
 public:
  FakeBus(const std::string& path, Manner manner) : manner_(manner) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    listening_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    is_there_ =
        ::bind(listening_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
        ::listen(listening_.get(), 1) == 0;
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeBus() {
    ::shutdown(listening_.get(), SHUT_RDWR);
    thread_.join();
  }
  FakeBus(const FakeBus&) = delete;
  FakeBus& operator=(const FakeBus&) = delete;
  bool is_there() const { return is_there_; }
  std::string heard() {  // the call; once the connection has ended
    ::shutdown(listening_.get(), SHUT_RDWR);
    thread_.join();
    thread_ = std::thread([] {});
    return heard_;
  }

 private:
  static void align(std::string& text, size_t to) {
    while (text.size() % to != 0) text += '\0';
  }
  static void number(std::string& text, uint32_t value) {
    align(text, 4);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  static void words(std::string& text, const std::string& value) {
    number(text, static_cast<uint32_t>(value.size()));
    text.append(value).push_back('\0');
  }
  static void signature(std::string& text, const char* value) {
    text.push_back(static_cast<char>(std::strlen(value)));
    text.append(value).push_back('\0');
  }
  // A field of the header, up to its value.
  static void field(std::string& text, char code, const char* type) {
    align(text, 8);
    text.push_back(code);
    signature(text, type);
  }

  // To call number `serial`; `error` empty: a result.
  void reply(uint32_t serial, const std::string& error, const char* type,
             const std::string& value) {
    std::string fields, body;
    field(fields, 5, "u"), number(fields, serial);
    field(fields, 7, "s"), words(fields, "org.freedesktop.DBus");
    if (!error.empty()) field(fields, 4, "s"), words(fields, error);
    field(fields, 8, "g"), signature(fields, type);
    words(body, value);
    std::string message = {'l', error.empty() ? '\2' : '\3', 0, 1};
    number(message, static_cast<uint32_t>(body.size()));
    number(message, ++serial_);
    number(message, static_cast<uint32_t>(fields.size()));
    message += fields;
    align(message, 8);
    say(message + body);
  }

  void say(const std::string& text) const {
    (void)!::send(peer_.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  bool read_more() {
    char part[4096];
    const ssize_t size = ::read(peer_.get(), part, sizeof part);
    if (size > 0) said_.append(part, static_cast<size_t>(size));
    return size > 0;
  }
  uint32_t at(size_t place) const {
    uint32_t value = 0;
    std::memcpy(&value, said_.data() + place, sizeof value);
    return value;
  }
  // The next call's serial, its bytes in heard_; 0 at the end.
  uint32_t next_call() {
    const auto whole = [this] { return 16 + (at(12) + 7) / 8 * 8 + at(4); };
    while (said_.size() < 16 || said_.size() < whole())
      if (!read_more()) return 0;
    heard_ = said_.substr(0, whole());
    said_.erase(0, whole());
    uint32_t serial = 0;
    std::memcpy(&serial, heard_.data() + 8, sizeof serial);
    return serial;
  }

  void serve() {
    peer_ = Fd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer_ || manner_ == Manner::kHangsUp) return peer_.reset();
    while (said_.find("BEGIN\r\n") == std::string::npos)
      if (!read_more()) return;
    if (manner_ == Manner::kBabbles) say(std::string(100000, '\xff'));
    if (manner_ != Manner::kBabbles && manner_ != Manner::kKeepsSilent) {
      const std::string data = said_.find("DATA\r\n") != std::string::npos ? "DATA\r\n" : "";
      say(data + "OK 0123456789abcdef0123456789abcdef\r\nAGREE_UNIX_FD\r\n");
      said_.erase(0, said_.find("BEGIN\r\n") + 7);
      if (const uint32_t hello = next_call(); hello != 0) reply(hello, "", "s", ":1.1");
      const uint32_t call = next_call();
      if (call != 0 && manner_ == Manner::kAccepts)
        reply(call, "", "o", "/org/freedesktop/systemd1/job/1");
      if (call != 0 && manner_ == Manner::kRefuses)
        reply(call, "org.freedesktop.DBus.Error.AccessDenied", "s", "not you");
    }
    const std::string call = heard_;
    while (read_more()) {
    }
    heard_ = call;
  }

  const Manner manner_;
  Fd listening_, peer_;
  bool is_there_ = false;
  std::string said_, heard_;
  uint32_t serial_ = 0;
  std::thread thread_;
};

class ServiceManager : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "bus-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    ::setenv("DBUS_SESSION_BUS_ADDRESS", ("unix:path=" + name + "/bus").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("DBUS_SESSION_BUS_ADDRESS");
    fs::remove_all(folder_);
  }
  static Status ask(std::chrono::milliseconds patience) {
    return start_own_scope("bulkhead-1-2-3.scope", std::chrono::steady_clock::now() + patience);
  }
  std::string bus() const { return folder_ + "/bus"; }
  std::string folder_;
};

TEST_F(ServiceManager, AScopeThatIsDelegatedIsAskedForWithWhoAsksInIt) {
  FakeBus bus(this->bus(), Manner::kAccepts);
  ASSERT_TRUE(bus.is_there());
  const Status asked = ask(30s);
  ASSERT_TRUE(asked.ok()) << asked.error().message;
  const std::string call = bus.heard();
  for (const char* word : {"org.freedesktop.systemd1", "StartTransientUnit", "bulkhead-1-2-3.scope",
                           "Delegate", "CollectMode", "inactive-or-failed"})
    EXPECT_THAT(call, HasSubstr(word));
  const std::string pids("\4\0\0\0PIDs\0\2au\0\0\0\0\4\0\0\0\0\0\0\0", 24);  // one, which is 0
  EXPECT_THAT(call, HasSubstr(pids));
}

TEST_F(ServiceManager, ARefusalIsToldInItsWords) {
  FakeBus bus(this->bus(), Manner::kRefuses);
  ASSERT_TRUE(bus.is_there());
  const Status asked = ask(30s);
  ASSERT_FALSE(asked.ok());
  EXPECT_THAT(asked.error().message, HasSubstr("not you"));
}

TEST_F(ServiceManager, WhoSaysNothingIsWaitedForNoLongerThanThat) {
  for (const Manner manner : {Manner::kKeepsSilent, Manner::kGreetsAndKeepsSilent}) {
    {
      FakeBus bus(this->bus(), manner);
      ASSERT_TRUE(bus.is_there());
      const auto begin = std::chrono::steady_clock::now();
      const Status asked = ask(200ms);
      ASSERT_FALSE(asked.ok());
      EXPECT_EQ(asked.error().errno_value, ETIMEDOUT) << asked.error().message;
      EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);  // sd-bus alone: 25 s and more
    }
    fs::remove(this->bus());
  }
}

TEST_F(ServiceManager, WhoHangsUpOrBabblesIsAnError) {
  for (const Manner manner : {Manner::kHangsUp, Manner::kBabbles}) {
    {
      FakeBus bus(this->bus(), manner);
      ASSERT_TRUE(bus.is_there());
      const Status asked = ask(30s);
      ASSERT_FALSE(asked.ok());
      EXPECT_NE(asked.error().errno_value, ETIMEDOUT) << asked.error().message;
    }
    fs::remove(this->bus());
  }
}

TEST_F(ServiceManager, NoBusIsAnError) { EXPECT_FALSE(ask(30s).ok()); }

}  // namespace
}  // namespace bulkhead
