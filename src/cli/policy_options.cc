#include "cli/policy_options.h"

namespace bulkhead {

std::string not_empty(const std::string& text) {
  return text.empty() ? "must not be empty" : std::string();
}

void add_policy_options(CommandLine& line, PolicyOptions& options) {
  const auto list = [&line](const char* name, std::vector<std::string>& into, const char* about,
                            const char* type) {
    line.add_option(name, into, about)
        .type_name(type)
        .repeatable()
        .check(not_empty)
        .group("Policy");
  };
  line.add_option("--manifest", options.manifest, "grant what this manifest asks for")
      .type_name("FILE")
      .check(not_empty)
      .group("Policy");
  list("--workspace", options.workspace, "the project's folder (default: the working folder)",
       "FOLDER");
  list("--read", options.read, "also grant reading this file or tree", "PATH");
  list("--write", options.write, "also grant writing this file or tree", "PATH");
  list("--connect", options.connect, "also grant connections, such as example.com:443",
       "HOST:PORT");
  list("--listen", options.listen,
       "also let this machine, your browser say, reach a server inside at this port, such as 5173 "
       "or 8000-8010",
       "PORT");
  list("--run", options.run, "also grant running this program", "PROGRAM");
  list("--env", options.environment, "also pass this variable; NAME or PREFIX_*", "NAME");
  line.add_flag("--private{}", options.private_home,
                "a home folder of its own that ends with the run, or is kept in a folder "
                "(--private=FOLDER); without a manifest there is one for each workspace anyway")
      .group("Policy");
  list("--unblock", options.unblock, "lift one group of the built-in blocklist, or \"all\"",
       "GROUP");
  line.add_option("--otherwise", options.otherwise,
                  "what happens to anything else; without a manifest, run asks on a terminal")
      .type_name("ask|deny")
      .check([](const std::string& text) {
        return text == "ask" || text == "deny"
                   ? std::string()
                   : "must be \"ask\" or \"deny\", not \"" + text + "\"";
      })
      .group("Policy");
  const auto limit = [&line](const char* name, auto& into, const char* about, const char* type) {
    line.add_option(name, into, about).type_name(type).check(not_empty).group("Limits");
  };
  limit("--memory", options.memory, "memory of all its processes together", "SIZE");
  limit("--cpu", options.cpu, "processors, such as 0.5 or 2", "NUMBER");
  limit("--cpu-time", options.cpu_time, "processor time of all its processes", "DURATION");
  limit("--wall-time", options.wall_time, "time from start to end", "DURATION");
  limit("--processes", options.processes, "processes at one time", "NUMBER");
  limit("--files", options.files, "open descriptors of each process", "NUMBER");
  limit("--written", options.written, "bytes written to storage", "SIZE");
  limit("--home", options.home, "bytes in a private home (default: 1GiB; a workspace's 8GiB)",
        "SIZE");
}

}  // namespace bulkhead
