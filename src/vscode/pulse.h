// Pulse: whether an extension host answers. VS Code's event loop acknowledges what it was sent by
// itself, whenever it turns: within five seconds, with its keep-alive. A host whose loop an
// extension keeps busy acknowledges nothing.
//
// Time is counted in beats: seconds in which the relay was awake and heard the host. A machine that
// slept and a relay that could not run count none, and the clock is not asked. Pure.
//
// What this does not stop: a host that lies. It can pass for one that answers, or for one that
// does not.
#pragma once

#include <cstdint>

namespace bulkhead {

class Pulse {
 public:
  static constexpr int kPatience = 10;  // beats
  // `oldest`: the number of the first message that the host has not acknowledged, 0 for none.
  // `excused`: it may stand still, since a person is asked what it may do. True where that changes
  // responds().
  bool beat(uint32_t oldest, bool excused);
  bool responds() const { return waited_ < kPatience; }

 private:
  uint32_t oldest_ = 0;
  int waited_ = 0;  // so many beats for the same message
};

}  // namespace bulkhead
