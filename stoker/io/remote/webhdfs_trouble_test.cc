// WebHDFS: what is wrong with credentials, data nodes and folders is told apart from files that are
// missing or damaged.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/remote_names.h"
#include "stoker/io/remote/webhdfs_testing_internal.h"

namespace stoker::webhdfs_trouble_test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(WebHdfsTest, ATokenFileThatIsMissingOrEmptySaysNothingAboutTheFilesOfTheStore) {
  Cluster cluster;
  cluster.Put("a", "content");
  const TempDir dir;
  const std::string path = dir / "token";
  ::setenv("WEBHDFS_DELEGATION_TOKEN_FILE", path.c_str(), 1);
  const ScopedRemoteOptions options;
  EXPECT_THAT(OpenByteSource(cluster.path("a")),
              FailsWith(StatusCode::kFailedPrecondition,
                        "WEBHDFS_DELEGATION_TOKEN_FILE: " + path + ": no such file"));
  STOKER_ASSERT_OK(WriteFileAtomically(path, ""));
  EXPECT_THAT(OpenByteSource(cluster.path("a")),
              FailsWith(StatusCode::kFailedPrecondition, path + ": has no token"));
  EXPECT_EQ(cluster.name_node().requests(), 0);
  STOKER_ASSERT_OK(WriteFileAtomically(path, "token"));
  EXPECT_EQ(*ReadAll(cluster.path("a")), "content");
}

TEST_F(WebHdfsTest, AServerThatAnswersForbiddenForTroubleOfItsOwnIsTriedAgain) {
  const std::string content = NumberedBytes(1000);
  for (const int failures : {2, 1000}) {
    Cluster cluster;
    cluster.Put("a", content);
    std::atomic<int> left = failures;
    cluster.fault = [&](const LoopbackRequest& request, int) -> std::optional<LoopbackAnswer> {
      if (request.target.find("op=OPEN") == std::string::npos || left-- <= 0) return std::nullopt;
      return Exception(403, "IOException",
                       "Failed to find datanode, suggest to check cluster health. "
                       "excludeDatanodes=null");
    };
    const ScopedRemoteOptions options({.retries = 3});
    const Result<std::string> read = ReadAll(cluster.path("a"));
    if (failures == 2) {
      EXPECT_EQ(*read, content);
      continue;
    }
    EXPECT_THAT(read.status(), FailsWith(StatusCode::kUnavailable,
                                         "HTTP 403 IOException (Failed to find datanode"));
    EXPECT_THAT(read.status().message(),
                AllOf(HasSubstr("after 4 tries"), Not(HasSubstr("HADOOP_USER_NAME"))));
  }
}

TEST_F(WebHdfsTest, OnlyAnswersThatSpeakOfRightsAreRefusals) {
  std::string name;
  Cluster cluster;
  cluster.Put("a", "content");
  cluster.fault = [&](const LoopbackRequest&, int) { return Exception(403, name, "the reason"); };
  const ScopedRemoteOptions options({.retries = 0});
  for (const char* refusal :
       {"AccessControlException", "AuthorizationException", "SecurityException", "InvalidToken"}) {
    name = refusal;
    EXPECT_THAT(OpenByteSource(cluster.path("a")),
                FailsWith(StatusCode::kPermissionDenied, "(the reason): nobody may read it"));
  }
  name = "UnresolvedPathException";
  EXPECT_THAT(OpenByteSource(cluster.path("a")),
              FailsWith(StatusCode::kFailedPrecondition, "UnresolvedPathException (the reason)"));
}

TEST_F(WebHdfsTest, APatternListsOnlyTheFoldersThatItsPartsMatch) {
  Cluster cluster;
  cluster.page_size = 100;
  std::vector<std::string> files;
  for (int i = 0; i < 10; ++i) {
    for (const char* below : {"train", "test", "a", "b", "c", "e", "f", "g", "h"}) {
      const std::string name = fmt::format("d/{}/{}/x.bin", i, below);
      cluster.Put(name, "12345");
      if (std::string_view(below) == "train") files.push_back(cluster.path(name));
    }
  }
  // Somebody else's folder, which the pattern does not reach.
  cluster.fault = [](const LoopbackRequest& request, int) -> std::optional<LoopbackAnswer> {
    if (request.target.find("/test?") == std::string::npos) return std::nullopt;
    return Exception(403, "AccessControlException", "Permission denied");
  };
  const ScopedRemoteOptions options;
  EXPECT_EQ(*ExpandRemoteGlob(cluster.path("d/*/train/*.bin")), files);
  EXPECT_EQ(cluster.name_node().requests(), 21);  // d, d/* and d/*/train
}

TEST_F(WebHdfsTest, AFolderThatIsRemovedWhileAPatternIsListedCountsAsEmpty) {
  Cluster cluster;
  cluster.page_size = 100;
  for (const char* name : {"d/1/x", "d/2/x", "d/3/x"}) cluster.Put(name, "12345");
  cluster.fault = [](const LoopbackRequest& request, int) -> std::optional<LoopbackAnswer> {
    if (request.target.find("/d/2?") == std::string::npos) return std::nullopt;
    return Exception(404, "FileNotFoundException", "File /d/2 does not exist.");
  };
  const ScopedRemoteOptions options;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto paths, ExpandRemoteGlob(cluster.path("d/*/x")));
  EXPECT_THAT(paths, ElementsAre(cluster.path("d/1/x"), cluster.path("d/3/x")));
  EXPECT_THAT(ExpandRemoteGlob(cluster.path("none/*")), FailsWith(StatusCode::kNotFound, "none"));
}

TEST_F(WebHdfsTest, ADataNodeThatFailsIsLeftOutOfTheNextTry) {
  const std::string content = NumberedBytes(1000);
  Cluster cluster;
  cluster.Put("a", content);
  // The name node sends to a node that breaks connections, until it is told to leave it out.
  std::atomic<int> broken = 0;
  const LoopbackServer damaged([&](const LoopbackRequest&, int) {
    ++broken;
    return LoopbackAnswer{.body = "x", .cut_head = true};
  });
  cluster.fault = [&](const LoopbackRequest& request, int) -> std::optional<LoopbackAnswer> {
    const bool opens = request.target.find("op=OPEN") != std::string::npos;
    if (!opens || ParameterOf(request.target, "excludedatanodes") == "127.0.0.1")
      return std::nullopt;
    return LoopbackAnswer{.status = 307,
                          .headers = {"Location: " + damaged.root() + request.target}};
  };
  const ScopedRemoteOptions options({.retries = 1});
  EXPECT_EQ(*ReadAll(cluster.path("a")), content);
  EXPECT_EQ(broken, 1);
}

TEST_F(WebHdfsTest, ALinkIsNotCalledAFolder) {
  Cluster cluster;
  cluster.fault = [](const LoopbackRequest&, int) {
    return LoopbackAnswer{.body = R"({"FileStatus": {"pathSuffix": "", "type": "SYMLINK",
        "symlink": "/b", "length": 0, "modificationTime": 1}})"};
  };
  const ScopedRemoteOptions options;
  EXPECT_THAT(OpenByteSource(cluster.path("a")),
              FailsWith(StatusCode::kInvalidArgument, "is a link, which is not followed"));
}

TEST_F(WebHdfsTest, AnAddressWithParametersIsRefusedWithoutTheirValues) {
  for (const char* wrong :
       {"webhdfs://h:1/a?delegation=SECRET", "webhdfs://h/a?op=OPEN&DELEGATION=SECRET",
        "swebhdfs://h/a?user.name=SECRET"}) {
    const Status status = ParseRemotePath(wrong).status();
    EXPECT_THAT(status, FailsWith(StatusCode::kInvalidArgument, "WEBHDFS_DELEGATION_TOKEN"))
        << wrong;
    EXPECT_THAT(status.message(), Not(HasSubstr("SECRET")));
  }
  EXPECT_EQ(ParseRemotePath("webhdfs://h/part-?.csv")->key, "part-?.csv");
}

TEST_F(WebHdfsTest, WhatAServerWritesIsShortenedInMessages) {
  Cluster cluster;
  cluster.fault = [](const LoopbackRequest&, int) {
    return Exception(400, std::string(5000, 'E'), "m");
  };
  const ScopedRemoteOptions options;
  const Status status = OpenByteSource(cluster.path("a")).status();
  EXPECT_THAT(status.message(), HasSubstr("HTTP 400 EEEE"));
  EXPECT_LT(status.message().size(), 1000u);
}

}  // namespace stoker::webhdfs_trouble_test
