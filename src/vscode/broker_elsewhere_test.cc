// What the editor would find by a name that means something of the compartment's own.
#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

// The test's own folder lies in /tmp as well: what is granted there is bound into the compartment.
TEST_F(BrokerTest, TheEditorsTmpIsNotTheCompartments) {
  std::string name = (fs::temp_directory_path() / "broker-other-XXXXXX").string();
  const fs::path other = fs::canonical(::mkdtemp(name.data()));
  std::ofstream(other / "a.txt") << "somebody else's";
  for (const std::string& path : {(other / "a.txt").string(), (other / "new.txt").string(),
                                  std::string("/tmp"), std::string("/dev/shm/x")}) {
    EXPECT_THAT(call("MainThreadFileSystem", "$readFile", {uri(path)}), HasSubstr("not the editor"))
        << path;
    EXPECT_THAT(call("MainThreadFileSystem", "$delete", {uri(path)}), HasSubstr("not the editor"))
        << path;
  }
  const auto deliver = [&](const std::string& path) {
    sent_ = {};
    RpcRequest request;
    request.number = 3;
    request.proxy = 60;
    request.method = "$acceptModelChanged";
    const std::string arguments = Json::array({uri(path), Json::object()}).dump();
    request.json = arguments;
    EXPECT_TRUE(broker_->from_workbench(write_request(request), sent_).ok());
    return sent_.host.size();
  };
  EXPECT_EQ(deliver((other / "a.txt").string()), 0U) << "because the user opened it";
  EXPECT_EQ(deliver(work("a.txt")), 1U);
  fs::remove_all(other);
}

// What stands there is the editor's own processes, or another one for each who follows.
TEST_F(BrokerTest, TheEditorsProcessesAreNotTheCompartments) {
  const std::string parent = std::to_string(::getppid());
  fs::create_symlink("/proc/self/environ", work("environ"));
  for (const std::string& path :
       {std::string("/proc"), "/proc/" + parent + "/environ", std::string("/proc/self/environ"),
        "/proc/" + parent + "/fd", std::string("/dev/fd/0"), std::string("/dev/pts/0"),
        std::string("/dev/null"), work("environ")}) {
    EXPECT_THAT(call("MainThreadFileSystem", "$readFile", {uri(path)}), HasSubstr("not the editor"))
        << path;
    EXPECT_NE(call("MainThreadFileSystem", "$writeFile", {uri(path), ""}), "passed") << path;
  }
  EXPECT_NE(call("MainThreadFileSystem", "$readdir", {uri("/proc")}), "passed");
}

}  // namespace
}  // namespace bulkhead::testing
