#include "vscode/host_session.h"

namespace bulkhead {
namespace {

constexpr auto kInitialized = static_cast<uint8_t>(HostSignal::kInitialized);
constexpr auto kReady = static_cast<uint8_t>(HostSignal::kReady);
constexpr auto kTerminate = static_cast<uint8_t>(HostSignal::kTerminate);
constexpr size_t kMostHeld = 64;

}  // namespace

Status HostSession::begin(Outbox& outbox) {
  outbox.to_workbench({kReady});
  return {};
}

Status HostSession::from_workbench(Bytes body, Outbox& outbox) {
  heard_ = initialized_;
  terminated_ = terminated_ || (body.size() == 1 && body[0] == kTerminate);
  if (broker_ && host_ready_) return broker_->from_workbench(body, outbox);
  if (broker_) {
    // It has no reason to say much before the host has answered.
    if (held_.size() >= kMostHeld) return Error{"the workbench did not wait for the host"};
    held_.emplace_back(body.begin(), body.end());
    return {};
  }
  if (body.size() == 1) return {};  // a window that closes before it has said anything
  BULKHEAD_TRY(InitialData data, InitialData::parse(body));
  BULKHEAD_TRY(broker_, admit_(data));
  data.withhold();
  held_.push_back(data.bytes());
  return host_ready_ ? pass_held(outbox) : Status{};
}

Status HostSession::from_host(Bytes body, Outbox& outbox) {
  if (host_ready_ && broker_) {
    BULKHEAD_CHECK(broker_->from_host(body, outbox));
    if (body.size() == 1 && body[0] == kInitialized) initialized_ = true;
    return {};
  }
  if (host_ready_) return Error{"the extension host spoke before it was told what it is for"};
  if (body.size() != 1 || body[0] != kReady)
    return Error{"the extension host spoke before it was ready"};
  host_ready_ = true;
  return broker_ ? pass_held(outbox) : Status{};
}

Status HostSession::pass_held(Outbox& outbox) {
  for (const auto& message : held_) BULKHEAD_CHECK(broker_->from_workbench(message, outbox));
  held_.clear();
  return {};
}

void HostSession::stop() {
  if (broker_) broker_->stop();
}

}  // namespace bulkhead
