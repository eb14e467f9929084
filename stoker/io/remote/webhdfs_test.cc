// WebHDFS: files and lists, by two servers on loopback.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "stoker/base/mutex.h"
#include "stoker/base/stop_scope.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/remote_file.h"
#include "stoker/io/remote/remote_names.h"
#include "stoker/io/remote/webhdfs_json.h"
#include "stoker/io/remote/webhdfs_testing_internal.h"

namespace stoker::webhdfs_test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(WebHdfsTest, AFileIsReadFromTheDataNodeByPositionAndInOrder) {
  const std::string content = NumberedBytes(700'000);
  Cluster cluster;
  cluster.Put("d/a.bin", content);
  cluster.Put("d/empty", "");
  const ScopedRemoteOptions options;
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(cluster.path("d/a.bin")));
  EXPECT_EQ(file.size(), content.size());
  std::string part(1000, '\0');
  STOKER_ASSERT_OK(file.ReadAt(500'000, std::as_writable_bytes(std::span(part))));
  EXPECT_EQ(part, content.substr(500'000, 1000));
  EXPECT_THAT(cluster.asked(), ElementsAre("/webhdfs/v1/d/a.bin?op=GETFILESTATUS",
                                           "/webhdfs/v1/d/a.bin?op=OPEN&offset=500000&length=1000",
                                           "/webhdfs/v1/d/a.bin?op=GETFILESTATUS"));
  EXPECT_TRUE(*ReadAll(cluster.path("d/a.bin")) == content);
  EXPECT_EQ(*ReadAll(cluster.path("d/empty")), "");
}

TEST_F(WebHdfsTest, ListsGoFolderByFolderInPagesOrWithout) {
  for (const bool batches : {true, false}) {
    Cluster cluster;
    cluster.batches = batches;
    for (const char* name : {"t/x1.tar", "t/x2.tar", "t/x3.tar", "t/y.tar", "t/x/deep/er.tar", "u"})
      cluster.Put(name, "12345");
    const ScopedRemoteOptions options;
    STOKER_ASSERT_OK_AND_ASSIGN(const auto paths, ExpandRemoteGlob(cluster.path("t/x*.tar")));
    EXPECT_THAT(paths, ElementsAre(cluster.path("t/x1.tar"), cluster.path("t/x2.tar"),
                                   cluster.path("t/x3.tar")));
    for (const std::string& target : cluster.asked())
      EXPECT_THAT(target, HasSubstr("/webhdfs/v1/t?op=LISTSTATUS"));  // no folder below it
    const int asked = cluster.name_node().requests();
    STOKER_EXPECT_OK(CheckRemoteFiles(paths));  // nothing is asked for: the list has told
    EXPECT_EQ(cluster.name_node().requests(), asked);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto deep, ExpandRemoteGlob(cluster.path("t/*/*/e?.tar")));
    EXPECT_THAT(deep, ElementsAre(cluster.path("t/x/deep/er.tar")));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto names, ListRemoteFolder(cluster.path("t")));
    EXPECT_THAT(names, ElementsAre("x/", "x/deep/", "x/deep/er.tar", "x1.tar", "x2.tar", "x3.tar",
                                   "y.tar"));
    EXPECT_THAT(ListRemoteFolder(cluster.path("none")),
                FailsWith(StatusCode::kNotFound,
                          "HTTP 404 FileNotFoundException (File does not exist: /none)"));
  }
}

TEST_F(WebHdfsTest, AListThatGoesRoundInCirclesIsAnError) {
  for (const bool empty : {true, false}) {
    Cluster cluster;
    cluster.fault = [&](const LoopbackRequest&, int) {
      const char* entry =
          R"({"pathSuffix": "k", "type": "FILE", "length": 1, "modificationTime": 1})";
      return LoopbackAnswer{.body = fmt::format(
                                R"({{"DirectoryListing": {{"partialListing": {{"FileStatuses":
                                {{"FileStatus": [{}]}}}}, "remainingEntries": 5}}}})",
                                empty ? "" : entry)};
    };
    const ScopedRemoteOptions options;
    EXPECT_THAT(ExpandRemoteGlob(cluster.path("k*")),
                FailsWith(StatusCode::kUnavailable, "goes round in circles: it gives "));
    EXPECT_LT(cluster.name_node().requests(), 5);
  }
}

TEST_F(WebHdfsTest, FoldersInFoldersWithoutEndAreAnError) {
  Cluster cluster;
  cluster.fault = [&](const LoopbackRequest&, int) {
    return LoopbackAnswer{.body = R"({"FileStatuses": {"FileStatus": [{"pathSuffix": "f",
        "type": "DIRECTORY", "length": 0, "modificationTime": 1}]}})"};
  };
  const ScopedRemoteOptions options;
  EXPECT_THAT(ListRemoteFolder(cluster.path("t")),
              FailsWith(StatusCode::kInvalidArgument, "nested more than 100 deep"));
}

TEST_F(WebHdfsTest, AFileThatChangesWhileItIsReadIsAnErrorAndNoneOfItsBytesAreHandedOut) {
  Cluster cluster;
  cluster.Put("a", NumberedBytes(700'000), 1);
  cluster.Put("b", NumberedBytes(700'000), 1);
  std::atomic<bool> change = false;
  // While the data node answers, so that it is asked with the old state known to be right.
  cluster.data_fault = [&](const LoopbackRequest&, int) -> std::optional<LoopbackAnswer> {
    if (change.exchange(false)) cluster.Put("a", std::string(700'000, 'x'), 1);
    return std::nullopt;
  };
  const ScopedRemoteOptions options;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto file, RemoteFile::Open(cluster.path("a")));
  change = true;
  std::string part(1000, '\0');
  const auto out = std::as_writable_bytes(std::span(part));
  bool handed_out = false;
  EXPECT_THAT(file->ReadUpTo(600'000, out, /*cancel=*/nullptr, [&](size_t) { handed_out = true; }),
              FailsWith(StatusCode::kFailedPrecondition, "the file changed while it was read"));
  EXPECT_FALSE(handed_out);
  // One that became shorter is refused by the data node in other words.
  STOKER_ASSERT_OK_AND_ASSIGN(const File shorter, File::Open(cluster.path("b")));
  cluster.Put("b", "short", 2);
  EXPECT_THAT(shorter.ReadAt(600'000, out),
              FailsWith(StatusCode::kFailedPrecondition, "the file changed while it was read"));
}

TEST_F(WebHdfsTest, WhatPassesIsTriedAgainAndWhatBreaksOffGoesOn) {
  const std::string content = NumberedBytes(3'000'000);
  Cluster cluster;
  cluster.Put("a", content);
  cluster.fault = [](const LoopbackRequest&, int number) -> std::optional<LoopbackAnswer> {
    if (number == 0)
      return Exception(403, "StandbyException", "Operation category READ is not supported");
    if (number == 1) return LoopbackAnswer{.status = 503, .headers = {"Retry-After: 0"}};
    if (number == 2) return LoopbackAnswer{.status = 429};
    if (number == 3) return Exception(403, "RetriableException", "retry");
    return std::nullopt;
  };
  cluster.data_fault = [&](const LoopbackRequest& request, int) -> std::optional<LoopbackAnswer> {
    const size_t offset = std::stoul(ParameterOf(request.target, "offset"));
    const size_t length = std::stoul(ParameterOf(request.target, "length"));
    LoopbackAnswer answer{.body = content.substr(offset, length)};
    if (answer.body.size() > 100'000) answer.cut = 100'000;
    return answer;
  };
  const ScopedRemoteOptions options;
  EXPECT_TRUE(*ReadAll(cluster.path("a")) == content);
  EXPECT_EQ(cluster.data_node().sent(), content.size());  // nothing twice
}

TEST_F(WebHdfsTest, ADataNodeThatSendsMoreThanAskedForIsNotBelieved) {
  const std::string content = NumberedBytes(700'000);
  for (const bool announced : {true, false}) {
    Cluster cluster;
    cluster.Put("a", content);
    cluster.data_fault = [&](const LoopbackRequest&, int) -> std::optional<LoopbackAnswer> {
      if (announced) return LoopbackAnswer{.body = content};
      std::string chunk = fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", content.size(), content);
      return LoopbackAnswer{.headers = {"Transfer-Encoding: chunked"}, .body = std::move(chunk)};
    };
    const ScopedRemoteOptions options;
    STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(cluster.path("a")));
    std::string part(1000, '\0');
    EXPECT_THAT(file.ReadAt(500'000, std::as_writable_bytes(std::span(part))),
                FailsWith(StatusCode::kUnavailable, "byte 500000: the server sends more than"));
  }
}

TEST_F(WebHdfsTest, ErrorsHaveTheServersWordsAndSayWhoAsked) {
  Cluster cluster;
  cluster.Put("f/a", "content");
  cluster.fault = [](const LoopbackRequest& request, int) -> std::optional<LoopbackAnswer> {
    if (request.target.find("/mine") == std::string::npos) return std::nullopt;
    return Exception(403, "AccessControlException", "Permission denied: user=me\n\tat org.apache");
  };
  const ScopedRemoteOptions options;
  EXPECT_THAT(OpenByteSource(cluster.path("missing")),
              FailsWith(StatusCode::kNotFound,
                        "/missing: HTTP 404 FileNotFoundException (File does "
                        "not exist: /missing): no such file"));
  EXPECT_THAT(OpenByteSource(cluster.path("f")),
              FailsWith(StatusCode::kInvalidArgument, "/f: is a folder, not a file"));
  EXPECT_THAT(OpenByteSource(cluster.path("mine")),
              FailsWith(StatusCode::kPermissionDenied,
                        "HTTP 403 AccessControlException (Permission denied: user=me): nobody may "
                        "read it without a name; set HADOOP_USER_NAME"));
  ::setenv("HADOOP_USER_NAME", "me", 1);
  EXPECT_THAT(OpenByteSource(cluster.path("mine")),
              FailsWith(StatusCode::kPermissionDenied, "the user 'me' may not read it"));
  ::setenv("WEBHDFS_DELEGATION_TOKEN", "HAAEc2Vj", 1);
  const Status status = OpenByteSource(cluster.path("mine")).status();
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("the delegation token may not read it, or has expired"),
                    Not(HasSubstr("HAAEc2Vj"))));
}

TEST_F(WebHdfsTest, WhoAsksIsToldToTheNameNodeAlone) {
  Cluster cluster;
  cluster.Put("a", "content");
  // A name node that does not hand the token on, as one does whose data nodes ask nobody.
  Mutex mutex;
  std::vector<std::string> targets;
  cluster.fault = [&](const LoopbackRequest& request, int) -> std::optional<LoopbackAnswer> {
    if (request.target.find("op=OPEN") == std::string::npos) return std::nullopt;
    return LoopbackAnswer{.status = 307,
                          .headers = {"Location: " + cluster.data_node().root() +
                                      "/webhdfs/v1/a?op=OPEN&offset=0&length=7"}};
  };
  cluster.data_fault = [&](const LoopbackRequest& request, int) -> std::optional<LoopbackAnswer> {
    const MutexLock lock(mutex);
    targets.push_back(request.target);
    for (const auto& [name, value] : request.headers)
      EXPECT_THAT(value, Not(HasSubstr("sec"))) << name;
    return std::nullopt;
  };
  const ScopedRemoteOptions options;
  ::setenv("HADOOP_USER_NAME", "a me", 1);
  EXPECT_EQ(*ReadAll(cluster.path("a")), "content");
  for (const std::string& target : cluster.asked())
    EXPECT_THAT(target, HasSubstr("&user.name=a%20me"));
  const TempDir dir;
  const std::string path = (dir.path() / "token").string();
  STOKER_ASSERT_OK(WriteFileAtomically(path, "sec/ret\n"));
  ::setenv("WEBHDFS_DELEGATION_TOKEN_FILE", path.c_str(), 1);
  cluster.Put("b", "content");
  STOKER_EXPECT_OK(CheckRemoteFiles({cluster.path("b"), cluster.path("a")}));
  EXPECT_THAT(cluster.asked().back(),
              AllOf(HasSubstr("&delegation=sec%2Fret"), Not(HasSubstr("user.name"))));
  EXPECT_THAT(targets, ElementsAre("/webhdfs/v1/a?op=OPEN&offset=0&length=7"));
}

TEST_F(WebHdfsTest, AReadThatWaitsForADataNodeEndsWithItsThreadsStopAndNotWithTheTimeout) {
  Cluster cluster;
  cluster.Put("a", NumberedBytes(700'000));
  cluster.data_fault = [](const LoopbackRequest&, int) {
    return std::optional(LoopbackAnswer{.silent = true});
  };
  const ScopedRemoteOptions options({.timeout = 300});
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(cluster.path("a")));
  const auto begin = std::chrono::steady_clock::now();
  const StopScope scope(
      [&] { return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(50); });
  std::string part(1000, '\0');
  EXPECT_EQ(file.ReadAt(500'000, std::as_writable_bytes(std::span(part))).code(),
            StatusCode::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST_F(WebHdfsTest, AddressesThatAreNoneSayHowOneLooks) {
  EXPECT_THAT(ParseRemotePath("webhdfs:///a"),
              FailsWith(StatusCode::kInvalidArgument, "write webhdfs://HOST:PORT/PATH"));
  const Status status = ParseRemotePath("swebhdfs://me:secret@host/a").status();
  EXPECT_THAT(status, FailsWith(StatusCode::kInvalidArgument, "set HADOOP_USER_NAME"));
  EXPECT_THAT(status.message(), Not(HasSubstr("secret")));
}

TEST(WebHdfsJson, AnswersThatAreNoneAreErrors) {
  for (
      const char* text :
      {"", "[]", "{}", R"({"FileStatus": 3})",
       R"({"FileStatus": {"pathSuffix": "", "type": "FILE", "length": -1, "modificationTime": 1}})",
       R"({"FileStatus": {"pathSuffix": "", "type": "FILE", "length": 1}})"})
    EXPECT_THAT(ParseWebHdfsStatus(text), FailsWith(StatusCode::kUnavailable, "WebHDFS")) << text;
  for (const char* name : {"..", ".", "a/b"}) {
    const std::string text = fmt::format(
        R"({{"FileStatuses": {{"FileStatus": [{{"pathSuffix": "{}", "type": "FILE", "length": 1,
        "modificationTime": 1}}]}}}})",
        name);
    EXPECT_THAT(ParseWebHdfsPage(text), FailsWith(StatusCode::kUnavailable, "list of a folder"));
  }
  EXPECT_EQ(ParseWebHdfsError("<html>").code, "");
  EXPECT_EQ(ParseWebHdfsStatus(R"({"FileStatus": {"pathSuffix": "", "type": "SYMLINK", "length": 1,
      "modificationTime": 5}})")
                ->tag,
            "\"5\"");
}

}  // namespace stoker::webhdfs_test
