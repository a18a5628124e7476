#include "session/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/fd.h"

namespace bulkhead {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* kCertificate = "-----BEGIN CERTIFICATE-----\nAA==\n";
constexpr const char* kKey = "-----BEGIN PRIVATE KEY-----\nAA==\n";
// Written out: g++ 12 warns of a sum of two.
constexpr const char* kBoth = "-----BEGIN CERTIFICATE-----\nAA==\n-----BEGIN PRIVATE KEY-----\n";

class CertificatesTest : public ::testing::Test {
 protected:
  static std::string new_folder() {
    std::string text = (std::filesystem::temp_directory_path() / "certificates.XXXXXX").string();
    return std::filesystem::canonical(mkdtemp(text.data())).string();
  }
  ~CertificatesTest() override { std::filesystem::remove_all(root_); }

  std::string file(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(make_directories(root_ + "/dir", 0700).ok());
    EXPECT_TRUE(write_file_atomically(root_ + "/" + name, text, 0600).ok());
    return root_ + "/" + name;
  }
  std::vector<std::string> granted(const std::map<std::string, std::string>& environment) const {
    std::vector<std::string> texts;
    for (const Extra& extra : certificate_grants(root_, [&](const char* name) {
           const auto found = environment.find(name);
           return found == environment.end() ? nullptr : found->second.c_str();
         }))
      texts.push_back(std::string(label(extra.kind)) + " " + extra.entry.text);
    return texts;
  }

  const std::string root_ = new_folder();
};

TEST_F(CertificatesTest, AFileThatHoldsThem) {
  const std::string ca = file("ca.pem", kCertificate);
  for (const char* name : {"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE",
                           "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"}) {
    EXPECT_THAT(granted({{name, ca}}),
                ElementsAre(std::string("environment ") + name, "read " + ca));
    EXPECT_THAT(granted({{name, "ca.pem"}}),
                ElementsAre(std::string("environment ") + name, "read " + ca));
  }
}

TEST_F(CertificatesTest, NothingElse) {
  file("key.pem", kKey);
  file("both.pem", kBoth);
  file("text", "a secret\n");
  for (const char* name : {"key.pem", "both.pem", "text", "missing", "", "dir", "/", "/dev/zero"})
    EXPECT_THAT(granted({{"SSL_CERT_FILE", name}, {"SSL_CERT_DIR", name}}), IsEmpty()) << name;
  EXPECT_THAT(granted({{"MY_CA_FILE", file("ca.pem", kCertificate)}}), IsEmpty());
}

TEST_F(CertificatesTest, OfAFolderTheCertificates) {
  const std::string ca = file("dir/ca.pem", kCertificate);
  file("dir/key.pem", kKey);
  file("dir/notes.txt", "a secret\n");
  const std::string other = file("other.pem", kCertificate);
  ASSERT_EQ(symlink(other.c_str(), (root_ + "/dir/1234.0").c_str()), 0);
  EXPECT_THAT(granted({{"SSL_CERT_DIR", root_ + "/dir"}}),
              UnorderedElementsAre("environment SSL_CERT_DIR", "read " + root_ + "/dir/.",
                                   "read " + ca, "read " + other));
}

}  // namespace
}  // namespace bulkhead
