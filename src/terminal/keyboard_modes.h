// KeyboardModes: what a program told the terminal about keys and the mouse, by which letters and
// Enter may no longer come as such: followed in its output, so that it can be undone while a
// question is open and told again afterwards.
#pragma once

#include <array>
#include <bitset>
#include <string>
#include <string_view>

namespace bulkhead {

class KeyboardModes {
 public:
  // The next of what the program writes, in parts of any size.
  void follow(std::string_view output);
  // Letters come as letters and Enter as Enter, whatever was told before, also what was missed
  // here. Empty where TERM is unset or "dumb".
  std::string plain() const;
  // After plain(): as the program had it.
  std::string again() const;

  // DEC's private modes ("CSI ? NUMBER h"): cursor keys, mouse, keypad, mouse and focus in their
  // kinds and forms, pastes, reports of colours and sizes, keys as Windows has them.
  static constexpr std::array kPrivate = {1,    9,    66,   1000, 1001, 1002, 1003, 1004,
                                          1005, 1006, 1015, 1016, 2004, 2031, 2048, 9001};

 private:
  enum class At { kText, kEscape, kControl, kString };
  void step(unsigned char byte);
  void escape(unsigned char final);
  void control(unsigned char final);
  void set_private(std::string_view numbers, char how);

  std::bitset<kPrivate.size()> private_, saved_;
  bool locked_ = false;     // KAM: no key counts
  bool two_bytes_ = false;  // LNM: Enter is "\r\n"
  int other_keys_ = 0;      // xterm's modifyOtherKeys
  bool kitty_ = false;      // its protocol was spoken: there is a stack of modes
  At at_ = At::kText;
  std::string control_;  // its parameters so far
  unsigned char before_ = 0;
};

}  // namespace bulkhead
