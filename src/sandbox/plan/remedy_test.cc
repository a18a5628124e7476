#include "sandbox/plan/remedy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bulkhead {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Refuser ubuntu(const std::string& program) {
  Refuser refuser;
  refuser.label = "unconfined";
  refuser.apparmor_restricts = true;
  refuser.namespaces_of_users = "1";
  refuser.most_namespaces = "63000";
  refuser.program = program;
  return refuser;
}

TEST(Remedy, OfAContainersFilterIsItsOptions) {
  Refuser refuser = ubuntu("/usr/bin/bulkhead");
  refuser.filter = true;
  EXPECT_THAT(remedy_for_namespaces(refuser),
              AllOf(HasSubstr("--security-opt seccomp=unconfined"),
                    HasSubstr("--security-opt systempaths=unconfined"), Not(HasSubstr("sudo"))));
}

TEST(Remedy, OfAContainersProfileIsItsOption) {
  Refuser refuser = ubuntu("/usr/bin/bulkhead");
  refuser.label = "docker-default (enforce)";
  EXPECT_THAT(remedy_for_namespaces(refuser),
              AllOf(HasSubstr("docker-default"), HasSubstr("--security-opt apparmor=unconfined")));
  refuser.label = "system_u:system_r:container_t:s0:c1,c2";
  EXPECT_THAT(remedy_for_namespaces(refuser), HasSubstr("--security-opt label=disable"));
}

TEST(Remedy, OfReachingIntoChildrenIsWhatHelps) {
  Refuser refuser;
  refuser.ptrace_scope = "2";
  EXPECT_EQ(remedy_for_reach(refuser), "sudo sysctl -w kernel.yama.ptrace_scope=1");
  refuser.ptrace_scope = "3";  // the kernel refuses to lower it
  EXPECT_THAT(remedy_for_reach(refuser), AllOf(HasSubstr("restart"), Not(HasSubstr("sysctl -w"))));
  for (const char* scope : {"", "0", "1"}) {
    refuser.ptrace_scope = scope;
    EXPECT_THAT(remedy_for_reach(refuser), Not(HasSubstr("ptrace_scope")));
  }
  refuser.filter = true;
  EXPECT_THAT(remedy_for_reach(refuser), HasSubstr("--security-opt"));
}

TEST(Remedy, OfUbuntusRestrictionIsOneCommand) {
  Refuser refuser = ubuntu("/usr/bin/bulkhead");
  refuser.profile_there = true;
  EXPECT_THAT(remedy_for_namespaces(refuser),
              HasSubstr("sudo apparmor_parser --replace /etc/apparmor.d/bulkhead"));
  // The package's is not about a program elsewhere, nor is it there without the package.
  for (const bool there : {true, false}) {
    refuser = ubuntu(there ? "/home/me/a tree/build/dev/bin/bulkhead" : "/usr/bin/bulkhead");
    refuser.profile_there = there;
    EXPECT_THAT(
        remedy_for_namespaces(refuser),
        HasSubstr("echo 'abi <abi/4.0>, profile bulkhead-own \"" + refuser.program +
                  "\" flags=(unconfined) { userns, }' | sudo tee /etc/apparmor.d/bulkhead-own | "
                  "sudo apparmor_parser --replace"));
  }
}

TEST(Remedy, OfANameThatNoProfileCanHaveIsTheSetting) {
  for (const char* program :
       {"/srv/o'me/bulkhead", "/srv/\"/bulkhead", "/a\\b", "/a\nb", "/a*", "/a[b]", "/\x1b[1m", ""})
    EXPECT_THAT(remedy_for_namespaces(ubuntu(program)),
                HasSubstr("sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"))
        << program;
}

TEST(Remedy, OfASettingIsTheSetting) {
  Refuser refuser;
  refuser.namespaces_of_users = "0";
  EXPECT_THAT(remedy_for_namespaces(refuser), HasSubstr("kernel.unprivileged_userns_clone=1"));
  refuser = {};
  refuser.most_namespaces = "0";
  EXPECT_THAT(remedy_for_namespaces(refuser), HasSubstr("user.max_user_namespaces=15000"));
  EXPECT_THAT(remedy_for_namespaces({}), HasSubstr("chroot"));
}

}  // namespace
}  // namespace bulkhead
