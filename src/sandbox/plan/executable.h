// Executable: which files the kernel opens to start a program. Read from the files' own headers.
//
// What this does not tell: shared libraries, which the program's own interpreter opens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bulkhead {

// The PT_INTERP of an ELF image whose first bytes are given; empty where there is none. Pure.
std::string elf_interpreter(std::string_view head);

// The interpreter of a "#!" script whose first bytes are given; empty where there is none. Pure.
std::string script_interpreter(std::string_view head);

// The canonical paths of `program`, of its chain of script interpreters and of their ELF
// interpreters. Files that are missing or unreadable end their chain.
std::vector<std::string> files_to_execute(const std::string& program);

}  // namespace bulkhead
