// The first bytes of a message, which the worker's C++ reads itself; all that follows is the
// business of js/lib/membrane.cjs at both ends.
#pragma once

#include <cstdint>

namespace bulkhead {

struct MessageHeader {
  uint8_t op = 0;
  uint8_t flags = 0;
  uint16_t releases = 0;
  uint32_t sandbox = 0;
  uint32_t turn = 0;
  uint32_t target = 0;
};
static_assert(sizeof(MessageHeader) == 16);

// js/lib/wire.cjs has the same numbers.
enum MessageOp : uint8_t {
  kOpCreate = 1,
  kOpDispose = 2,
  kOpProgram = 13,  // ProgramMessage; the first message, without an answer
  kOpCode = 15,     // what V8 made of the program in a sandbox, for ProgramMessage
  // Below: requests that the worker's JavaScript answers.
  kOpReturn = 64,
  kOpThrow = 65,
  kOpEnded = 66,  // flags: MessageEnd
};

// Of the values of a message: characters of a byte each, behind their number.
inline constexpr uint8_t kTagText = 6;

enum MessageEnd : uint8_t { kEndTime = 1, kEndMemory = 2, kEndUnknown = 3 };

// What follows the header of kOpCreate.
struct CreateMessage {
  double heap = 0;
  double buffers = 0;
  double stack = 0;
  uint32_t flags = 0;
  uint32_t shares =
      0;  // the heap of the sandbox with this number less one; 0: none, it has its own
};
static_assert(sizeof(CreateMessage) == 32);

// What follows the header of kOpProgram, whose sandbox is made at once; then the text that every
// guest runs first, and its code cache, to the message's end.
struct ProgramMessage {
  CreateMessage first;
  uint32_t text = 0;  // bytes
  uint32_t reserved = 0;
};
static_assert(sizeof(ProgramMessage) == 40);

inline constexpr uint32_t kCreateEval = 1;
inline constexpr uint32_t kCreateWasm = 2;
inline constexpr uint32_t kCreateShared = 4;  // has the memory behind the channel's slots

}  // namespace bulkhead
