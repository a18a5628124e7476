#include "vscode/control.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/path.h"
#include "policy/access.h"
#include "policy/judge.h"
#include "vscode/json_string.h"
#include "vscode/json_tree.h"

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr size_t kMaxClients = 8;
constexpr size_t kMaxLine = 64U << 10U;   // of what a companion sends
constexpr size_t kMaxUnsent = 4U << 20U;  // a companion that does not read is let go
constexpr size_t kMostAtOnce = kMaxUnsent / 4;
constexpr std::chrono::milliseconds kTick{2000}, kFastTick{500}, kNextPart{50};

std::string line_of(const Json& message) { return json_string(message) + "\n"; }

std::optional<Answer> answer_of(const std::string& text) {
  if (text == "once") return Answer::kOnce;
  if (text == "run") return Answer::kThisRun;
  if (text == "always") return Answer::kAlways;
  if (text == "never") return Answer::kNever;
  if (text == "no") return Answer::kNo;
  return std::nullopt;
}

std::optional<Kind> grantable(std::string_view text) {
  const auto kind = kind_of(text);
  return kind && !field(*kind).empty() ? kind : std::nullopt;
}

std::string text_of(const Json& message, const char* key) {
  const auto it = message.find(key);
  return it != message.end() && it->is_string() ? it->get<std::string>() : std::string();
}

}  // namespace

struct Control::Client {
  Fd fd;
  std::string in, out;
  bool gone = false;
};

// NOLINTNEXTLINE(bugprone-exception-escape): moving a Json does not throw.
struct Control::Open {
  uint64_t id = 0;
  Question question;
  Json message;
  std::optional<Answer> answer;
  bool later = false;  // who asked has gone on
};

namespace {

// A listening socket in the user's own folder, which is made; ENOENT where it went away meanwhile.
Result<Fd> listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Whoever finds the name finds somebody who listens.
  const std::string unfinished = path + "~";
  if (unfinished.size() >= sizeof address.sun_path)
    return Error{
        fmt::format("the socket {} has a longer name than the {} bytes that unix(7) allows: "
                    "set XDG_RUNTIME_DIR to a shorter folder",
                    path, sizeof address.sun_path - 2),
        ENAMETOOLONG};
  std::memcpy(address.sun_path, unfinished.data(), unfinished.size());
  const std::string folder(parent_of(path));
  BULKHEAD_CHECK(make_directories(folder, 0700));
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) return errno_error("look at " + folder);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077U) != 0)
    return Error{
        fmt::format("{} must be a folder of yours that nobody else may enter (chmod 700)", folder),
        EPERM};
  Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) return errno_error("make a socket");
  // A pid that was used before: its process is gone, this one is it now.
  ::unlink(unfinished.c_str());
  if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), 8) != 0 || ::rename(unfinished.c_str(), path.c_str()) != 0)
    return errno_error("listen on " + path);
  return listener;
}

// Nobody listens there, and nobody will: a name is listened at from its beginning.
bool is_stale(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (path.extension() != ".sock" || text.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, text.data(), text.size());
  const Fd caller(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return caller &&
         ::connect(caller.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 &&
         errno == ECONNREFUSED;
}

}  // namespace

Result<std::unique_ptr<Control>> Control::open(Options options, Handlers handlers) {
  // The last host of a window takes their folder away, perhaps just now.
  constexpr int kTries = 20;
  Result<Fd> listener = listen_at(options.socket);
  for (int i = 1; i < kTries && !listener.ok() && listener.error().errno_value == ENOENT; ++i)
    listener = listen_at(options.socket);
  if (!listener.ok()) return listener.error();
  std::unique_ptr<Control> control(new Control(std::move(options), std::move(handlers)));
  control->listener_ = std::move(listener).value();
  control->wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!control->wake_) return errno_error("make an eventfd");
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  control->thread_ = std::thread([raw = control.get()] { raw->run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return control;
}

void Control::clear_stale(const std::string& folder) noexcept {
  namespace fs = std::filesystem;
  std::error_code error;
  try {
    for (const auto& window : fs::directory_iterator(folder, error)) {
      if (window.is_symlink(error) || !window.is_directory(error)) continue;
      bool removed = false;
      for (const auto& each : fs::directory_iterator(window.path(), error))
        if (is_stale(each.path())) removed |= ::unlink(each.path().c_str()) == 0;
      if (removed) ::rmdir(window.path().c_str());  // if it was the last
    }
  } catch (const std::exception&) {
    // Somebody else clears as well: what is left is cleared next time.
  }
}

Control::Control(Options options, Handlers handlers)
    : options_(std::move(options)),
      handlers_(std::move(handlers)),
      tokens_(options_.burst),
      refilled_(Clock::now()) {}

Control::~Control() {
  cancel();
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  wake();
  if (thread_.joinable()) thread_.join();
  if (listener_ && ::unlink(options_.socket.c_str()) == 0)
    ::rmdir(
        std::string(parent_of(options_.socket)).c_str());  // of a window with other hosts: stays
}

void Control::wake() noexcept {
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void Control::hello(Json message) {
  {
    const std::lock_guard guard(mutex_);
    hello_ = std::move(message);
    outbox_.push_back(hello_);
  }
  wake();
}

void Control::tell(Json message) {
  {
    const std::lock_guard guard(mutex_);
    outbox_.push_back(std::move(message));
  }
  wake();
}

void Control::keep(const std::string& type, Json message) {
  {
    const std::lock_guard guard(mutex_);
    if (message.is_null()) {
      kept_.erase(type);
      return;
    }
    outbox_.push_back(message);
    kept_[type] = std::move(message);
  }
  wake();
}

void Control::wait_for_somebody(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  answered_.wait_for(lock, most, [this] { return anybody_; });
}

Answer Control::ask(const Question& question) {
  std::unique_lock lock(mutex_);
  if (cancelled_ || stopping_) return Answer::kNobody;
  const auto now = Clock::now();
  const std::chrono::duration<double> passed = now - refilled_;
  tokens_ = std::min<double>(options_.burst, tokens_ + passed / options_.refill);
  refilled_ = now;
  if (tokens_ < 1) return Answer::kNotAsked;
  tokens_ -= 1;
  const auto open = std::make_shared<Open>();
  open->id = ++last_id_;
  open->question = question;
  open->message = Json{{"type", "question"},
                       {"id", open->id},
                       {"kind", label(question.kind)},
                       {"resource", question.resource},
                       {"extension", question.subject},
                       {"program", question.program},
                       {"process", question.pid},
                       {"detail", question.detail},
                       {"about", question.about},
                       {"later", false}};
  open_[open->id] = open;
  outbox_.push_back(open->message);
  wake();
  ++held_;
  answered_.wait_for(lock, question.hold, [&] { return open->answer || cancelled_ || stopping_; });
  --held_;
  if (!open->answer && !cancelled_ && !stopping_) {
    open->later = true;
    open->message["later"] = true;
    outbox_.push_back(Json{{"type", "later"}, {"id", open->id}});
    wake();
    return Answer::kLater;
  }
  open_.erase(open->id);
  outbox_.push_back(Json{{"type", "withdrawn"}, {"id", open->id}});
  wake();
  return cancelled_ ? Answer::kNobody : open->answer.value_or(Answer::kNobody);
}

std::optional<std::chrono::milliseconds> Control::patience(Waits waits) const noexcept {
  return waits == Waits::kMain ? options_.main_patience : options_.patience;
}

void Control::on_late(std::function<void(const Question&, Answer)> answered) {
  const std::lock_guard guard(late_mutex_);
  late_ = std::move(answered);
}

void Control::answer(uint64_t id, Answer answer) {
  const std::lock_guard late_guard(late_mutex_);
  std::shared_ptr<Open> open;
  {
    const std::lock_guard guard(mutex_);
    const auto found = open_.find(id);
    // An answer to a question that is closed, or is answered already, means nothing.
    if (found == open_.end() || found->second->answer || cancelled_) return;
    open = found->second;
    open->answer = answer;
    if (!open->later) {
      answered_.notify_all();
      return;
    }
    open_.erase(found);
    outbox_.push_back(Json{{"type", "withdrawn"}, {"id", id}});
  }
  if (late_) late_(open->question, answer);
}

void Control::cancel() noexcept {
  {
    const std::lock_guard guard(mutex_);
    cancelled_ = true;
    for (const auto& [id, open] : open_)
      if (open->later) outbox_.push_back(Json{{"type", "withdrawn"}, {"id", id}});
    std::erase_if(open_, [](const auto& each) { return each.second->later; });
  }
  answered_.notify_all();
  wake();
  const std::lock_guard guard(late_mutex_);  // one that is being given on
  late_ = nullptr;
}

bool Control::asking() const noexcept {
  const std::lock_guard guard(mutex_);
  return held_ > 0;
}

void Control::send(Client& client, const Json& message) {
  client.out += line_of(message);
  if (client.out.size() > kMaxUnsent) client.gone = true;
}

void Control::send_all(const Json& message) {
  for (auto& client : clients_) send(*client, message);
}

void Control::accept_client() {
  for (;;) {
    Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        peer.uid != ::geteuid() || clients_.size() >= kMaxClients)
      continue;
    auto client = std::make_unique<Client>();
    client->fd = std::move(fd);
    {
      const std::lock_guard guard(mutex_);
      // What is still on its way is in what the newcomer is told: once is enough.
      for (const Json& message : outbox_) send_all(message);
      outbox_.clear();
      if (!hello_.is_null()) send(*client, hello_);
      for (const auto& [type, message] : kept_) send(*client, message);
      for (const auto& [id, open] : open_) send(*client, open->message);
      anybody_ = true;
    }
    answered_.notify_all();
    clients_.push_back(std::move(client));
    told_.clear();  // the newcomer knows none
  }
}

void Control::take(Client& client, const std::string& line) {
  const Json message = parse_json(line);
  const auto complain = [&](const std::string& text) {
    send(client, Json{{"type", "error"}, {"message", text}});
  };
  if (!message.is_object()) return complain("that was no JSON object");
  const std::string type = text_of(message, "type");
  if (type == "answer") {
    const auto id = message.find("id");
    const auto answer = answer_of(text_of(message, "answer"));
    if (!answer || id == message.end() || !id->is_number_unsigned())
      return complain("an answer needs an id, and one of once, run, always, never, no");
    this->answer(id->get<uint64_t>(), *answer);
  } else if (type == "approve" || type == "reject") {
    const Status done = handlers_.review(text_of(message, "digest"), type == "approve");
    if (!done.ok()) complain(done.error().message);
  } else if (type == "grant" || type == "revoke") {
    const auto kind = grantable(text_of(message, "kind"));
    const std::string resource = text_of(message, "resource");
    if (!kind || resource.empty()) return complain("a grant needs a kind and a resource");
    const Status done = handlers_.remember(*kind, resource, type == "grant");
    if (!done.ok()) complain(done.error().message);
  } else if (type == "end") {
    handlers_.end();
  } else {
    complain("unknown message type");
  }
}

bool Control::read_client(Client& client) {
  char buffer[16384];
  const ssize_t n = ::read(client.fd.get(), buffer, sizeof buffer);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) return false;
  client.in.append(buffer, static_cast<size_t>(n));
  size_t start = 0;
  for (size_t end = 0; (end = client.in.find('\n', start)) != std::string::npos; start = end + 1)
    take(client, client.in.substr(start, end - start));
  client.in.erase(0, start);
  return client.in.size() <= kMaxLine;
}

bool Control::tick() {
  if (clients_.empty()) return true;
  uint64_t refused = 0;
  bool whole = true;
  for (const Event& event : handlers_.refused()) {
    if (!is_own_home(event.rule)) refused += event.count;
    std::string key =
        fmt::format("{}\n{}\n{}", static_cast<int>(event.kind), event.resource, event.program);
    uint64_t& told = told_[std::move(key)];
    if (told >= event.count) continue;
    // A companion that is told all of what a program tried would be let go for it, come back, and
    // hear nothing else.
    if (std::any_of(clients_.begin(), clients_.end(),
                    [](const auto& client) { return client->out.size() > kMostAtOnce; })) {
      whole = false;
      continue;
    }
    told = event.count;
    send_all(Json{{"type", "decision"},
                  {"time", std::chrono::duration_cast<std::chrono::milliseconds>(
                               event.time.time_since_epoch())
                               .count()},
                  {"kind", label(event.kind)},
                  {"resource", event.resource},
                  {"verdict", "deny"},
                  {"asked", event.asked},
                  {"rule", event.rule},
                  {"program", event.program},
                  {"detail", event.detail},
                  {"count", event.count},
                  {"enforced", event.enforced}});
  }
  send_all(Json{{"type", "counts"}, {"refused", refused}});
  if (Json usage = handlers_.usage(); usage.is_object()) {
    Json message = {{"type", "usage"}};
    message.update(usage);
    send_all(message);
  }
  return whole;
}

void Control::run() {
  auto next = Clock::now() + kFastTick;
  for (;;) {
    std::vector<Json> batch;
    {
      const std::lock_guard guard(mutex_);
      if (stopping_) break;
      batch.swap(outbox_);
    }
    for (const Json& message : batch) send_all(message);
    if (Clock::now() >= next) {
      next = Clock::now() + (tick() ? kTick : kNextPart);
    }
    std::vector<pollfd> polled = {{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (auto& client : clients_) {
      if (!client->out.empty()) {
        const ssize_t n = ::send(client->fd.get(), client->out.data(), client->out.size(),
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) client->out.erase(0, static_cast<size_t>(n));
        if (n < 0 && errno != EAGAIN && errno != EINTR) client->gone = true;
      }
    }
    std::erase_if(clients_, [](const auto& client) { return client->gone; });
    {
      const std::lock_guard guard(mutex_);
      anybody_ = !clients_.empty();
    }
    for (auto& client : clients_)
      polled.push_back(
          {client->fd.get(), static_cast<short>(POLLIN | (client->out.empty() ? 0 : POLLOUT)), 0});
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count();
    // Without a companion there is nobody to tell: no waking up.
    const int timeout =
        clients_.empty() ? -1 : static_cast<int>(std::clamp<int64_t>(left, 0, 2000));
    if (::poll(polled.data(), polled.size(), timeout) < 0 && errno != EINTR) break;
    if (polled[0].revents != 0) {
      uint64_t count = 0;
      (void)!::read(wake_.get(), &count, sizeof count);
    }
    for (size_t i = 0; i + 2 < polled.size(); ++i)
      if ((polled[i + 2].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !read_client(*clients_[i]))
        clients_[i]->gone = true;
    if (polled[1].revents != 0) {
      accept_client();
      next = std::min(next, Clock::now() + kFastTick);
    }
  }
  // What is still to be said ("ended") is said, as far as that can be done without waiting.
  std::vector<Json> batch;
  {
    const std::lock_guard guard(mutex_);
    batch.swap(outbox_);
  }
  for (const Json& message : batch) send_all(message);
  for (auto& client : clients_)
    (void)!::send(client->fd.get(), client->out.data(), client->out.size(),
                  MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace bulkhead
