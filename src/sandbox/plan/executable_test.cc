#include "sandbox/plan/executable.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace bulkhead {
namespace {

std::string elf(std::string_view interpreter, uint64_t offset, uint64_t size) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_INTERP;
  segment.p_offset = offset;
  segment.p_filesz = size;
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  return file + std::string(interpreter) + '\0';
}
constexpr uint64_t kBehind = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);

TEST(Executable, ReadsTheElfInterpreter) {
  EXPECT_EQ(elf_interpreter(elf("/lib/ld.so", kBehind, 11)), "/lib/ld.so");
}

TEST(Executable, BrokenElfNamesNothing) {
  EXPECT_EQ(elf_interpreter(""), "");
  EXPECT_EQ(elf_interpreter("\177ELF"), "");
  const std::string good = elf("/lib/ld.so", kBehind, 11);
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(elf_interpreter(std::string_view(good).substr(0, size)), "") << size;
  }
  EXPECT_EQ(elf_interpreter(elf("/x", kBehind, ~uint64_t{0})), "");
  EXPECT_EQ(elf_interpreter(elf("/x", ~uint64_t{0}, 2)), "");
  EXPECT_EQ(elf_interpreter(elf("/x", ~uint64_t{0} - 1, 4)), "");
  std::string many = good;
  many[offsetof(Elf64_Ehdr, e_phnum)] = '\xff';
  many[offsetof(Elf64_Ehdr, e_phnum) + 1] = '\xff';
  EXPECT_EQ(elf_interpreter(many), "/lib/ld.so") << "the first entry is still in bounds";
  std::string far = good;
  std::memset(far.data() + offsetof(Elf64_Ehdr, e_phoff), 0xff, 8);
  EXPECT_EQ(elf_interpreter(far), "");
}

TEST(Executable, ReadsTheScriptInterpreter) {
  EXPECT_EQ(script_interpreter("#!/bin/sh\necho"), "/bin/sh");
  EXPECT_EQ(script_interpreter("#! \t/usr/bin/env node\n"), "/usr/bin/env");
  EXPECT_EQ(script_interpreter("#!/bin/sh"), "/bin/sh");
  EXPECT_EQ(script_interpreter("#!\n/bin/sh"), "");
  EXPECT_EQ(script_interpreter("#! "), "");
  EXPECT_EQ(script_interpreter("# !/bin/sh"), "");
}

TEST(Executable, FollowsTheChain) {
  char folder[] = "/tmp/bulkhead-executable-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string script = std::string(folder) + "/a", loop = std::string(folder) + "/loop";
  std::ofstream(script) << "#!/bin/sh\n";
  std::ofstream(loop) << "#!" << loop << "\n";
  const auto files = files_to_execute(script);
  ASSERT_GE(files.size(), 3u) << "script, shell, the shell's loader";
  EXPECT_EQ(files[0], script);
  EXPECT_THAT(files[1], testing::AnyOf(testing::EndsWith("sh"), testing::EndsWith("busybox")));
  EXPECT_THAT(files[2], testing::HasSubstr("ld-linux"));
  EXPECT_EQ(files_to_execute(loop), std::vector<std::string>{loop});
  EXPECT_TRUE(files_to_execute(std::string(folder) + "/missing").empty());
  EXPECT_EQ(files_to_execute(folder).size(), 1u);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace bulkhead
