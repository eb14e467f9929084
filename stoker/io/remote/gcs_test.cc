// Google Cloud Storage: files and lists of a bucket.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "stoker/base/mutex.h"
#include "stoker/base/stop_scope.h"
#include "stoker/base/testing.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/gcs_testing_internal.h"
#include "stoker/io/remote/remote_names.h"

namespace stoker::gcs_test {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(GcsTest, AFileIsReadByPositionAndInOrderInTheGenerationThatWasFound) {
  const std::string content = NumberedBytes(700'000);
  FakeBucket bucket;
  bucket.Put("t/a b%.bin", content, 17);
  Mutex mutex;
  std::vector<std::string> conditions;
  const LoopbackServer server([&](const LoopbackRequest& request, int number) {
    LoopbackRequest decoded = request;
    EXPECT_THAT(request.target, HasSubstr("/o/t%2Fa%20b%25.bin?alt=media"));
    for (size_t at; (at = decoded.target.find("%20")) != std::string::npos;)
      decoded.target.replace(at, 3, " ");
    for (size_t at; (at = decoded.target.find("%25")) != std::string::npos;)
      decoded.target.replace(at, 3, "%");
    EXPECT_EQ(request.headers.at("accept-encoding"), "gzip");
    EXPECT_FALSE(request.headers.contains("if-match"));
    EXPECT_FALSE(request.headers.contains("authorization"));
    const MutexLock lock(mutex);
    if (number > 0) conditions.push_back(ParameterOf(request.target, "ifGenerationMatch"));
    return bucket.Answer(decoded);
  });
  Use(server);
  const ScopedRemoteOptions options;
  const std::string path = "gs://b/t/a b%.bin";
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(path));
  EXPECT_EQ(file.size(), content.size());
  std::string part(1000, '\0');
  STOKER_ASSERT_OK(file.ReadAt(500'000, std::as_writable_bytes(std::span(part))));
  EXPECT_EQ(part, content.substr(500'000, 1000));
  EXPECT_TRUE(*ReadAll(path) == content);
  EXPECT_GE(conditions.size(), 2u);
  EXPECT_THAT(conditions, Each("17"));
}

TEST_F(GcsTest, ListsAreReadPageByPageAndTellTheVersions) {
  FakeBucket bucket;
  bucket.page_size = 2;
  for (const char* name : {"t/x1.tar", "t/x2.tar", "t/x3.tar", "t/y.tar", "t/x/deep.tar", "u"})
    bucket.Put(name, "12345");
  bucket.Put("t/f/", "");
  std::atomic<int> reads = 0;
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    reads += request.target.starts_with("/download/");
    return bucket.Answer(request);
  });
  Use(server);
  const ScopedRemoteOptions options;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto paths, ExpandRemoteGlob("gs://b/t/x*.tar"));
  EXPECT_THAT(paths, ElementsAre("gs://b/t/x1.tar", "gs://b/t/x2.tar", "gs://b/t/x3.tar"));
  EXPECT_EQ(server.requests(), 2);  // with the delimiter, t/x/ is left out by the store
  STOKER_EXPECT_OK(CheckRemoteFiles(paths));
  EXPECT_EQ(reads, 0);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto names, ListRemoteFolder("gs://b/t"));
  EXPECT_THAT(names, ElementsAre("f/", "x/deep.tar", "x1.tar", "x2.tar", "x3.tar", "y.tar"));
  EXPECT_THAT(ListRemoteFolder("gs://b/none"),
              FailsWith(StatusCode::kNotFound, "gs://b/none: no object is below it"));
}

TEST_F(GcsTest, AListWhosePagesRepeatATokenIsAnError) {
  const LoopbackServer server([](const LoopbackRequest&, int number) {
    if (number > 100) return LoopbackAnswer{.status = 404};  // so that the test ends
    return LoopbackAnswer{
        .body = fmt::format("{{\"nextPageToken\": \"again\", \"items\": [{{\"name\": \"k{}\", "
                            "\"size\": \"1\", \"generation\": \"1\"}}]}}",
                            number)};
  });
  Use(server);
  const ScopedRemoteOptions options;
  EXPECT_THAT(ExpandRemoteGlob("gs://b/k*"),
              FailsWith(StatusCode::kUnavailable, "it gives a continuation again"));
  EXPECT_LT(server.requests(), 10);
}

TEST_F(GcsTest, AFileThatChangesWhileItIsReadIsAnError) {
  FakeBucket bucket;
  bucket.Put("changing", NumberedBytes(700'000), 1);
  const LoopbackServer server(
      [&](const LoopbackRequest& request, int) { return bucket.Answer(request); });
  Use(server);
  const ScopedRemoteOptions options;
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open("gs://b/changing"));
  bucket.Put("changing", NumberedBytes(700'000), 2);
  std::string part(1000, '\0');
  EXPECT_THAT(file.ReadAt(500'000, std::as_writable_bytes(std::span(part))),
              FailsWith(StatusCode::kFailedPrecondition, "the file changed while it was read"));
}

TEST_F(GcsTest, ATagThatIsNoGenerationIsComparedAndNotSentAsOne) {
  const std::string content = NumberedBytes(700'000);
  std::atomic<int> conditions = 0;
  std::string tag = "\"a&b=c\"";
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    conditions += request.target.find("ifGenerationMatch") != std::string::npos;
    return ServeContent(request, content, tag);
  });
  Use(server);
  const ScopedRemoteOptions options;
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open("gs://b/without-generation"));
  std::string part(1000, '\0');
  const auto out = std::as_writable_bytes(std::span(part));
  STOKER_ASSERT_OK(file.ReadAt(500'000, out));
  EXPECT_EQ(part, content.substr(500'000, 1000));
  EXPECT_EQ(conditions, 0);
  tag = "\"another\"";
  EXPECT_THAT(file.ReadAt(600'000, out),
              FailsWith(StatusCode::kFailedPrecondition, "the file changed while it was read"));
}

TEST_F(GcsTest, ErrorsHaveTheStoresWords) {
  const LoopbackServer server([](const LoopbackRequest& request, int) {
    if (request.target.find("/missing") != std::string::npos)
      return LoopbackAnswer{.status = 404, .body = "No such object: b/missing"};
    return LoopbackAnswer{
        .status = 403,
        .body = R"({"error": {"code": 403, "message": "No storage.objects.get access.",
                    "errors": [{"reason": "forbidden"}]}})"};
  });
  Use(server);
  const ScopedRemoteOptions options;
  EXPECT_THAT(OpenByteSource("gs://b/missing"),
              FailsWith(StatusCode::kNotFound,
                        "gs://b/missing: HTTP 404 (No such object: b/missing): no such file"));
  EXPECT_THAT(OpenByteSource("gs://b/mine"),
              FailsWith(StatusCode::kPermissionDenied,
                        "HTTP 403 forbidden (No storage.objects.get access.): these credentials"));
  EXPECT_EQ(server.requests(), 2);
}

TEST_F(GcsTest, WhatPassesIsTriedAgainAndWhatBreaksOffGoesOn) {
  const std::string content = NumberedBytes(3'000'000);
  FakeBucket bucket;
  bucket.Put("broken", content, 5);
  const LoopbackServer server([&](const LoopbackRequest& request, int number) {
    if (number == 0) return LoopbackAnswer{.status = 503, .headers = {"Retry-After: 0"}};
    if (number == 1) return LoopbackAnswer{.status = 429};
    LoopbackAnswer answer = bucket.Answer(request);
    if (answer.body.size() > 100'000) answer.cut = 100'000;
    return answer;
  });
  Use(server);
  const ScopedRemoteOptions options;
  EXPECT_TRUE(*ReadAll("gs://b/broken") == content);
  EXPECT_EQ(server.sent(), content.size());  // nothing twice
}

TEST_F(GcsTest, APartThatIsNotTheOneAskedForIsAnError) {
  FakeBucket bucket;
  bucket.Put("wrong-part", NumberedBytes(700'000), 5);
  const LoopbackServer server([&](const LoopbackRequest& request, int number) {
    LoopbackAnswer answer = bucket.Answer(request);
    if (number > 0) answer.headers[1] = "Content-Range: bytes 600000-600999/700000";
    return answer;
  });
  Use(server);
  const ScopedRemoteOptions options;
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open("gs://b/wrong-part"));
  std::string part(1000, '\0');
  EXPECT_THAT(file.ReadAt(500'000, std::as_writable_bytes(std::span(part))),
              FailsWith(StatusCode::kUnavailable, "begins at byte 600000"));
}

TEST_F(GcsTest, AReadThatWaitsForTheServerEndsWithItsThreadsStopAndNotWithTheTimeout) {
  const LoopbackServer server(
      [](const LoopbackRequest&, int) { return LoopbackAnswer{.silent = true}; });
  Use(server);
  const ScopedRemoteOptions options({.timeout = 300});
  const auto begin = std::chrono::steady_clock::now();
  const StopScope scope(
      [&] { return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(50); });
  EXPECT_EQ(OpenByteSource("gs://b/stalled").status().code(), StatusCode::kCancelled);
  EXPECT_EQ(ExpandRemoteGlob("gs://b/x*").status().code(), StatusCode::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST_F(GcsTest, AnHmacKeySignsRequestsToTheXmlApi) {
  const LoopbackServer server([](const LoopbackRequest& request, int) {
    EXPECT_THAT(request.headers.at("authorization"),
                AllOf(HasSubstr("AWS4-HMAC-SHA256 Credential=GOOG1E/"),
                      HasSubstr("/auto/s3/aws4_request"), Not(HasSubstr("hmac-secret"))));
    if (request.target.starts_with("/b?")) {
      return LoopbackAnswer{
          .body =
              "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>t/x1</Key>"
              "<Generation>5</Generation><Size>7</Size><ETag>\"v1\"</ETag></Contents>"
              "</ListBucketResult>"};
    }
    EXPECT_EQ(request.target, "/b/t/x1");
    EXPECT_EQ(request.headers.at("accept-encoding"), "gzip");
    return ServeContent(request, "content");
  });
  Use(server);
  ::setenv("GS_ACCESS_KEY_ID", "GOOG1E", 1);
  ::setenv("GS_SECRET_ACCESS_KEY", "hmac-secret", 1);
  const ScopedRemoteOptions options;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto paths, ExpandRemoteGlob("gs://b/t/x*"));
  EXPECT_THAT(paths, ElementsAre("gs://b/t/x1"));
  EXPECT_EQ(*ReadAll("gs://b/t/x1"), "content");
}

TEST_F(GcsTest, AnHmacKeySignsByTheClockOfTheServerThatRefusesItsTime) {
  const LoopbackServer server([](const LoopbackRequest& request, int) {
    if (!request.headers.at("x-amz-date").starts_with("20981106T"))
      return LoopbackAnswer{.status = 403,
                            .headers = {"Date: Thu, 06 Nov 2098 08:49:37 GMT"},
                            .body = "<Error><Code>RequestTimeTooSkewed</Code></Error>"};
    return ServeContent(request, "content");
  });
  Use(server);
  ::setenv("GS_ACCESS_KEY_ID", "GOOG1E", 1);
  ::setenv("GS_SECRET_ACCESS_KEY", "hmac-secret", 1);
  const ScopedRemoteOptions options;
  EXPECT_EQ(*ReadAll("gs://b/skewed"), "content");
  EXPECT_LE(server.requests(), 3);
}

}  // namespace stoker::gcs_test
