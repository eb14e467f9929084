// The environment of tests that read from S3. Only tests include it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"
#include "stoker/io/remote/s3.h"

namespace stoker {

// The environment of a user who has the files `credentials` and `config` in ~/.aws, and nothing
// else of Amazon's.
class S3Test : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
          "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3",
          "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"})
      ::unsetenv(name);
    ::setenv("HOME", dir_.path().c_str(), 1);
    std::filesystem::create_directory(dir_.path() / ".aws");
  }
  void Write(const char* name, std::string_view text) {
    STOKER_ASSERT_OK(WriteFileAtomically((dir_.path() / ".aws" / name).string(), text));
  }
  // A region that no other test uses, so that nothing found before is taken.
  static RemoteOptions Fresh(RemoteOptions options = {}) {
    static int number = 0;
    if (options.region.empty()) options.region = "region-" + std::to_string(number++);
    return options;
  }
  static std::string UrlOf(const std::string& path, const RemoteOptions& options) {
    const auto request = S3Stores::Shared().MakeRequest(*ParseRemotePath(path), "", options);
    return request.ok() ? request->http.url : request.status().ToString();
  }
  const TempDir dir_;
};

}  // namespace stoker
