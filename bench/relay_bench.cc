// What an extension host's conversation costs on its way through the relay and the broker.
//
// Pipeline: one thread, no sockets: bytes in chunks as a socket gives them, frames, messages, RPC,
// the broker's decision, and the bytes that would be written. Relay: the real thing over socket
// pairs, its thread apart from the two ends'; "MB/s of CPU" counts the relay's thread alone, and is
// what one core would carry where the ends have their own. Latency: a request of 200 bytes and its
// reply of the same size, through the relay and, for comparison, over one socket pair.

#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/calls/rename_lock.h"
#include "trace/arbiter.h"
#include "vscode/broker.h"
#include "vscode/node_channel.h"
#include "vscode/outlet.h"
#include "vscode/protocol.h"
#include "vscode/relay.h"
#include "vscode/rpc.h"

namespace {

using namespace bulkhead;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr uint8_t kInitialized[] = {static_cast<uint8_t>(HostSignal::kInitialized)};
constexpr size_t kChunk = 256U << 10U;  // what the relay reads at once

template <typename T>
T must(Result<T> result) {
  if (!result.ok()) {
    fmt::print(stderr, "{}\n", to_string(result.error()));
    std::exit(1);
  }
  return std::move(result).value();
}
void must(const Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "{}\n", to_string(status.error()));
  std::exit(1);
}

// A broker with a policy of the usual size, that has its initial data. What it decides on is a file
// some folders deep, and no name on the way to it changes until the workbench has answered.
struct Judged {
  ApiTable table = must(ApiTable::parse(ManifestBytes::of("bench", R"({"methods":{
    "MainThreadFileSystem":{"$writeFile":{"needs":"workspace-files","check":["0 uri-write"]}},
    "MainThreadBulkEdits":{"$tryApplyWorkspaceEdit":{"needs":"workspace-edit","check":["0 edit"]}}
  },"told":{"$acceptModelChanged":"resources"}})")));
  std::filesystem::path folder;
  RenameLock renames;
  std::unique_ptr<Arbiter> arbiter;
  std::unique_ptr<Broker> broker;

  Judged() {
    std::string name = (std::filesystem::temp_directory_path() / "relay-bench-XXXXXX").string();
    folder = std::filesystem::canonical(::mkdtemp(name.data()));
    std::filesystem::create_directories(path().parent_path());
    std::ofstream(path()) << "content\n";
    PolicyInputs inputs;
    inputs.manifest = must(parse_manifest(ManifestBytes::of("m.json", R"({"manifest":1,
      "extension":"me.mine","files":{"read":["${workspace}"],"write":["${workspace}"]},
      "vscode":["@editor"],"otherwise":"deny"})")));
    inputs.variables.workspace = {folder.string()};
    inputs.variables.home = "/no-such-home";
    arbiter = std::make_unique<Arbiter>(must(Policy::compile(inputs)), nullptr, nullptr,
                                        Enforcement::kEnforce, nullptr);
    BrokerOptions options;
    options.extensions = {"me.mine"};
    options.renames = &renames;
    options.actors = {"MainThreadFileSystem", "MainThreadBulkEdits"};
    broker = std::make_unique<Broker>(table, *arbiter, options);
  }
  ~Judged() { std::filesystem::remove_all(folder); }

  std::filesystem::path path() const { return folder / "packages/editor/src/parts/a.txt"; }
  Json file() const { return {{"$mid", 1}, {"path", path().string()}, {"scheme", "file"}}; }
  // As if the workbench had answered the requests up to this one.
  void answer(uint32_t from, uint32_t to) {
    for (uint32_t number = from; number <= to; ++number) renames.end(number);
  }
  std::string initial() const { return R"({"remote":{"authority":"host:1"}})"; }
};

std::string source_of(size_t size) {
  static constexpr std::string_view kLine = "  const \"value\" = compute(input[i], options);\n";
  std::string text;
  while (text.size() < size) text += kLine;
  return text.substr(0, size);
}

enum Kind_ : int64_t { kReply, kBuffer, kEdit, kChange };

// A message of about `size` bytes.
std::vector<uint8_t> body_of(const Judged& judged, int64_t kind, size_t size) {
  const std::string uri = judged.file().dump();
  const std::vector<uint8_t> content(size, 'x');
  if (kind == kReply) {
    RpcReply reply;
    reply.type = RpcType::kReplyOkBuffer;
    reply.buffers = {content};
    return write_reply(reply);
  }
  RpcRequest request;
  request.number = 7;
  std::string json;
  if (kind == kBuffer) {
    request.proxy = 1;
    request.method = "$writeFile";
    request.mixed = true;
    request.arguments = {{RpcArgument::Type::kJson, uri, {}},
                         {RpcArgument::Type::kBuffer, {}, {content}}};
    return write_request(request);
  }
  if (kind == kEdit) {
    request.proxy = 2;
    request.method = "$tryApplyWorkspaceEdit";
    Json edit = {{"resource", judged.file()},
                 {"textEdit", {{"range", {{"startLineNumber", 1}}}, {"text", source_of(size)}}}};
    json = Json{{"edits", Json::array({edit})}}.dump();
    request.mixed = true;  // as the workbench reads it: with whatever buffers its JSON names
    request.arguments = {{RpcArgument::Type::kJsonWithBuffers, json, {}}};
    return write_request(request);
  }
  request.proxy = 1;
  request.method = "$acceptModelChanged";
  json = Json::array({judged.file(),
                      Json{{"changes", Json::array({Json{{"text", source_of(size)}}})}}, false})
             .dump();
  request.json = json;
  return write_request(request);
}

// A host must not use a request's number again: bytes 1 to 4 of the body (rpc.h).
void set_number(uint8_t* body, uint32_t number) {
  for (int i = 0; i < 4; ++i) body[1 + i] = static_cast<uint8_t>(number >> (24 - 8 * i));
}

void append_message(std::vector<uint8_t>& out, uint32_t id, Bytes body, bool framed) {
  Message message;
  message.type = MessageType::kRegular;
  message.id = id;
  uint8_t header[kMessageHeader], frame[10];
  write_message_header(message, body.size(), header);
  if (framed) {
    const size_t length = websocket_header(2, kMessageHeader + body.size(), frame);
    frame[1] |= 0x80U;
    out.insert(out.end(), frame, frame + length);
    out.insert(out.end(), 4, 0);  // XORed like any other mask
  }
  out.insert(out.end(), header, header + kMessageHeader);
  out.insert(out.end(), body.begin(), body.end());
}

// Takes what would be written: header, frame and body, as the relay gathers them.
struct Discard final : Outbox {
  Outlet outlet;
  size_t bytes = 0;
  void take(std::vector<uint8_t> body, bool framed) {
    uint8_t header[kMessageHeader], frame[10];
    write_message_header(Message{}, body.size(), header);
    if (framed) outlet.add(Bytes(frame, websocket_header(2, body.size(), frame)));
    outlet.add(header);
    const auto shared = std::make_shared<const std::vector<uint8_t>>(std::move(body));
    outlet.add(*shared, shared);
    bytes += shared->size();
    if (outlet.size() > kChunk) outlet.clear();
  }
  void to_host(std::vector<uint8_t> body) override { take(std::move(body), false); }
  void to_workbench(std::vector<uint8_t> body) override { take(std::move(body), true); }
};

void Pipeline(benchmark::State& state) {
  Judged judged;
  Discard discard;
  const bool from_host = state.range(0) == 0;
  const std::string initial = judged.initial();
  must(judged.broker->from_workbench(
      Bytes(reinterpret_cast<const uint8_t*>(initial.data()), initial.size()), discard));
  must(judged.broker->from_host(kInitialized, discard));
  const auto body = body_of(judged, state.range(1), static_cast<size_t>(state.range(2)));
  const bool is_request = state.range(1) != kReply;
  auto question = body_of(judged, kChange, 1);
  uint32_t number = 0;
  std::vector<uint8_t> stream;
  std::vector<size_t> bodies;  // where each begins
  while (stream.size() < (8U << 20U)) {
    append_message(stream, 1, body, !from_host);
    bodies.push_back(stream.size() - body.size());
  }
  WebSocketReader frames;
  MessageReader messages(size_t{256} << 20U);
  const auto feed = [&](Bytes part) {
    must(messages.feed(part, [&](const Message& message) {
      return from_host ? judged.broker->from_host(message.body, discard)
                       : judged.broker->from_workbench(message.body, discard);
    }));
  };
  const WebSocketReader::Sink sink{feed, [](Bytes) {}, [](uint16_t) {}};
  for (auto _ : state) {
    const uint32_t first = number + 1;
    if (from_host)
      for (const size_t at : bodies) set_number(&stream[at], ++number);
    if (from_host && !is_request) {  // a reply passes where something was asked
      state.PauseTiming();
      for (size_t i = 0; i < bodies.size(); ++i) {
        set_number(question.data(), number - static_cast<uint32_t>(i));
        must(judged.broker->from_workbench(question, discard));
      }
      state.ResumeTiming();
    }
    for (size_t i = 0; i < stream.size(); i += kChunk) {
      const auto part = std::span(stream).subspan(i, std::min(kChunk, stream.size() - i));
      if (from_host)
        feed(part);
      else
        must(frames.feed(part, sink));
    }
    judged.answer(first, number);
  }
  if (discard.bytes < stream.size() / 2) state.SkipWithError("messages were refused");
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * stream.size()));
  static constexpr const char* kNames[] = {"reply, buffer", "request, buffer",
                                           "request, JSON judged", "request, JSON judged inwards"};
  state.SetLabel(fmt::format("{}: {}", from_host ? "host to workbench" : "workbench to host",
                             kNames[state.range(1)]));
}
BENCHMARK(Pipeline)
    ->ArgNames({"inwards", "kind", "bytes"})
    ->ArgsProduct({{0, 1}, {kReply}, {4 << 10, 64 << 10, 1 << 20}})
    ->ArgsProduct({{0}, {kBuffer, kEdit}, {4 << 10, 64 << 10, 1 << 20}})
    ->ArgsProduct({{1}, {kChange}, {4 << 10, 64 << 10, 1 << 20}});

// ------------------------------------------------------------------------------------ end to end

std::pair<Fd, Fd> socket_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) std::exit(1);
  return {Fd(fds[0]), Fd(fds[1])};
}

void write_all(int fd, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

// Reads the next message whole; skips acknowledgements and the like. Each side of the benchmark has
// one; the frames of the relay are unmasked ones.
class Taker {
 public:
  Taker(int fd, bool framed) : fd_(fd), framed_(framed), buffer_(kChunk) {}
  // Until `count` more regular messages have come. False at the end of the stream.
  bool take(size_t count) {
    const size_t wanted = taken_ + count;
    while (taken_ < wanted) {
      const ssize_t n = ::read(fd_, buffer_.data(), buffer_.size());
      if (n <= 0) return false;
      const std::span<uint8_t> bytes(buffer_.data(), static_cast<size_t>(n));
      const auto messages = [this](Bytes part) {
        must(messages_.feed(part, [this](const Message& message) -> Status {
          if (message.type != MessageType::kRegular) return {};
          ++taken_;
          last_ = message.id;
          since_ += message.body.size();
          return {};
        }));
      };
      if (framed_)
        must(frames_.feed(bytes, {messages, [](Bytes) {}, [](uint16_t) {}}));
      else
        messages(bytes);
      if (since_ > (1U << 20U)) acknowledge();
    }
    return true;
  }
  void acknowledge() {
    since_ = 0;
    Message message;
    message.type = MessageType::kAck;
    message.ack = last_;
    uint8_t header[kMessageHeader];
    write_message_header(message, 0, header);
    std::vector<uint8_t> bytes;
    if (framed_) bytes = {0x82, 0x80 | kMessageHeader, 0, 0, 0, 0};
    bytes.insert(bytes.end(), header, header + kMessageHeader);
    write_all(fd_, bytes);
  }

 private:
  int fd_;
  bool framed_;
  std::vector<uint8_t> buffer_;
  WebSocketReader frames_{false};
  MessageReader messages_{size_t{256} << 20U};
  size_t taken_ = 0, since_ = 0;
  uint32_t last_ = 0;
};

// A relay with its broker, between a browser and a host that are plain sockets here.
class Setup {
 public:
  Judged judged;
  Fd browser, host;
  uint32_t sent_by_host = 0, sent_by_browser = 0;

  Setup() {
    auto [server, server_relay] = socket_pair();
    auto [program, program_relay] = socket_pair();
    auto [ours, theirs] = socket_pair();
    browser = std::move(ours);
    server_ = std::move(server);
    program_ = std::move(program);
    relay_ = std::make_unique<Relay>(std::move(server_relay), std::move(program_relay),
                                     *judged.broker, RelayOptions{});
    thread_ = std::thread([this] { must(relay_->run()); });
    NodeChannel to_server(Fd(::dup(server_.get())), 1 << 20U);
    must(to_server.send(R"({"cmd":"NODE_HANDLE","msg":{"type":"VSCODE_EXTHOST_IPC_SOCKET"}})",
                        std::move(theirs)));
    NodeChannel channel(Fd(::dup(program_.get())), 1 << 20U);
    must(channel.send(R"({"type":"VSCODE_EXTHOST_IPC_READY"})"));
    while (!host)
      must(channel.receive([this](std::string_view, Fd handle) -> Status {
        host = std::move(handle);
        return {};
      }));
    const std::string initial = judged.initial();
    send_from_browser(Bytes(reinterpret_cast<const uint8_t*>(initial.data()), initial.size()));
    at_host.emplace(host.get(), false);
    at_browser.emplace(browser.get(), true);
    at_host->take(1);
    send_from_host(kInitialized);
    at_browser->take(1);
  }
  ~Setup() {
    relay_->stop();
    thread_.join();
  }
  void send_from_host(Bytes body) {
    scratch_.clear();
    append_message(scratch_, ++sent_by_host, body, false);
    if (body.size() > 1) set_number(&scratch_[scratch_.size() - body.size()], sent_by_host);
    write_all(host.get(), scratch_);
  }
  void send_from_browser(Bytes body) {
    scratch_.clear();
    append_message(scratch_, ++sent_by_browser, body, true);
    write_all(browser.get(), scratch_);
  }
  double relay_cpu() {
    clockid_t clock = 0;
    timespec time{};
    pthread_getcpuclockid(thread_.native_handle(), &clock);
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  std::optional<Taker> at_host, at_browser;

 private:
  Fd server_, program_;
  std::unique_ptr<Relay> relay_;
  std::thread thread_;
  std::vector<uint8_t> scratch_;
};

size_t peak_memory() {
  size_t pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r"); file != nullptr) {
    if (std::fscanf(file, "%*s %zu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

void RelayThroughput(benchmark::State& state) {
  Setup setup;
  const bool from_host = state.range(0) == 0;
  const auto size = static_cast<size_t>(state.range(1));
  const auto body = body_of(setup.judged, from_host ? kBuffer : kReply, size);
  const size_t count = std::max<size_t>((64U << 20U) / size, 1);
  const double cpu = setup.relay_cpu();
  size_t memory = 0;
  for (auto _ : state) {
    const uint32_t first = setup.sent_by_host + 1;
    std::thread sender([&] {
      for (size_t i = 0; i < count; ++i)
        from_host ? setup.send_from_host(body) : setup.send_from_browser(body);
    });
    Taker& taker = from_host ? *setup.at_browser : *setup.at_host;
    if (!taker.take(count)) state.SkipWithError("the relay ended");
    sender.join();
    setup.judged.answer(first, setup.sent_by_host);
    memory = std::max(memory, peak_memory());
  }
  const auto bytes =
      static_cast<double>(state.iterations()) * static_cast<double>(count * body.size());
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
  state.counters["MB/s of CPU"] = bytes / 1e6 / (setup.relay_cpu() - cpu);
  state.counters["resident MB"] = static_cast<double>(memory) / 1e6;
  state.SetLabel(from_host ? "host to workbench" : "workbench to host");
}
BENCHMARK(RelayThroughput)
    ->ArgNames({"inwards", "bytes"})
    ->ArgsProduct({{0, 1}, {4 << 10, 64 << 10, 1 << 20}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// There and back, in microseconds; in turns, so that both see the same machine.
void RelayLatency(benchmark::State& state) {
  Setup setup;
  const auto request = body_of(setup.judged, kBuffer, 100);
  const auto reply = body_of(setup.judged, kReply, 191);
  auto [near, far] = socket_pair();
  std::vector<uint8_t> plain;
  append_message(plain, 1, request, false);
  std::thread browser([&] {
    while (setup.at_browser->take(1)) setup.send_from_browser(reply);
  });
  std::thread echo([&, fd = far.get()] {
    Taker taker(fd, false);
    while (taker.take(1)) write_all(fd, plain);
  });
  Taker taker(near.get(), false);
  std::vector<double> through, direct;
  for (auto _ : state) {
    const auto start = Clock::now();
    setup.send_from_host(request);
    setup.at_host->take(1);
    const auto middle = Clock::now();
    write_all(near.get(), plain);
    taker.take(1);
    through.push_back(std::chrono::duration<double, std::micro>(middle - start).count());
    direct.push_back(std::chrono::duration<double, std::micro>(Clock::now() - middle).count());
    setup.judged.answer(setup.sent_by_host, setup.sent_by_host);
  }
  ::shutdown(near.get(), SHUT_RDWR);
  ::shutdown(setup.browser.get(), SHUT_RDWR);
  browser.join();
  echo.join();
  const double relayed = median(through), plainly = median(direct);
  state.counters["µs through"] = relayed;
  state.counters["µs direct"] = plainly;
  state.counters["µs added to a message"] = (relayed - plainly) / 2;
}
BENCHMARK(RelayLatency)->Iterations(20000)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
