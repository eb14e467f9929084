// Servers whose files change while they are read, and whose answers are not what they should be.
#include <map>

#include "stoker/base/mutex.h"
#include "stoker/base/testing.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"
#include "stoker/io/remote/remote_file.h"
#include "stoker/io/remote/remote_file_testing_internal.h"

namespace stoker::remote_file_answers_test {

TEST(RemoteFile, OfAnAnswerThatIsLongerThanItsRangeTheRangeAloneIsTaken) {
  for (const size_t size : {20'000, 300'000}) {
    const ScopedRemoteOptions options({.retries = 1});
    const std::string content = NumberedBytes(size);
    const LoopbackServer server([&](const LoopbackRequest& request, int) {
      LoopbackAnswer answer = ServeContent(request, content);
      answer.body += answer.body;
      return answer;
    });
    const Result<std::string> all = ReadAll(server.url("a"));
    STOKER_ASSERT_OK(all);
    EXPECT_EQ(all->size(), size);
    EXPECT_TRUE(*all == content);
  }
}

TEST(RemoteFile, AnAnswerThatAnnouncesMoreThanItSendsIsNotAskedForForEver) {
  const std::string content = NumberedBytes(300'000);
  for (const char* length : {"Content-Length: 4611686018427387904", "Content-Length: 65537"}) {
    for (const size_t sent : {0, 1'000, 65'536}) {
      for (const bool parts : {true, false}) {
        SCOPED_TRACE(testing::Message() << length << " " << sent << " " << parts);
        const TempDir cache;
        const ScopedRemoteOptions options({.retries = 2, .cache = cache / "cache"});
        Mutex mutex;
        std::map<std::string, int> asked;
        const LoopbackServer server([&](LoopbackRequest request, int number) {
          {
            const MutexLock lock(mutex);
            ++asked[request.headers.contains("range") ? request.headers.at("range") : "whole"];
          }
          if (number > 2'000) return LoopbackAnswer{.status = 404};  // so that the test ends
          if (!parts) request.headers.erase("range");
          LoopbackAnswer answer = ServeContent(request, content);
          answer.headers.emplace_back(length);
          answer.body.resize(std::min(sent, answer.body.size()));
          answer.cut = answer.body.size();
          return answer;
        });
        const Result<std::string> all = ReadAll(server.url("a"));
        // Where each answer brings something, the content arrives in the end.
        if (parts && sent > 0) {
          ASSERT_TRUE(all.ok()) << all.status().ToString();
          EXPECT_TRUE(*all == content);
        } else {
          EXPECT_FALSE(all.ok());
        }
        const MutexLock lock(mutex);
        for (const auto& [range, times] : asked) EXPECT_LE(times, 4) << range;
      }
    }
  }
}

// The whole content comes, so nothing is missing.
TEST(RemoteFile, BytesThatAreAnnouncedBeyondThoseAskedForAreNotWaitedFor) {
  const ScopedRemoteOptions options({.retries = 0, .timeout = 300});
  const std::string content = NumberedBytes(200'000);
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    LoopbackAnswer answer = ServeContent(request, content);
    answer.headers.push_back(fmt::format("Content-Length: {}", answer.body.size() + 1));
    return answer;  // and the connection stays open
  });
  EXPECT_TRUE(*ReadAll(server.url("a")) == content);
}

TEST(RemoteFile, AServerThatLosesTagAndTimeIsRefusedAndOneThatKeepsTheTimeIsNot) {
  const std::string content = NumberedBytes(300'000), other(300'000, 'x');
  struct Case {
    const char* name;
    std::vector<std::string> first, later;
    bool same;
    const char* says;  // null: it is read
  };
  const std::string tag = "ETag: \"a\"", weak = "ETag: W/\"a\"";
  const std::string time = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT";
  const std::string later = "Last-Modified: Sun, 06 Nov 1994 08:49:38 GMT";
  const Case kCases[] = {
      {"tag", {tag}, {}, false, "no longer says which version"},
      {"time", {time}, {}, false, "no longer says which version"},
      {"both", {tag, time}, {}, false, "no longer says which version"},
      {"time-stays", {tag, time}, {time}, true, nullptr},
      {"time-differs", {tag, time}, {later}, false, "the file changed while it was read"},
      {"time-only-differs", {time}, {later}, false, "the file changed while it was read"},
      {"weak-differs", {weak}, {"ETag: W/\"b\""}, false, "the file changed while it was read"},
      {"weak-stays", {weak}, {weak}, true, nullptr},
      {"other-mark", {tag}, {time}, false, "the file changed while it was read"}};
  for (const Case& one : kCases) {
    const ScopedRemoteOptions options;
    const LoopbackServer server([&](const LoopbackRequest& request, int number) {
      LoopbackRequest asked = request;
      asked.headers.erase("if-match");
      LoopbackAnswer answer = ServeContent(asked, number == 0 || one.same ? content : other);
      answer.headers[0] = "X: y";  // in the place of its tag
      const auto& marks = number == 0 ? one.first : one.later;
      answer.headers.insert(answer.headers.end(), marks.begin(), marks.end());
      return answer;
    });
    const Result<std::string> all = ReadAll(server.url(one.name));
    if (one.says == nullptr) {
      STOKER_ASSERT_OK(all) << one.name;
      EXPECT_TRUE(*all == content) << one.name;
    } else {
      EXPECT_THAT(all, FailsWith(StatusCode::kFailedPrecondition, one.says)) << one.name;
    }
  }
}

TEST(RemoteFile, WithoutATagTheServerIsAskedForTheVersionByItsTime) {
  const ScopedRemoteOptions options;
  const std::string content = NumberedBytes(300'000);
  const LoopbackServer server([&](const LoopbackRequest& request, int number) {
    if (number > 0 && request.headers.at("if-unmodified-since") == "Sun, 06 Nov 1994 08:49:37 GMT")
      return LoopbackAnswer{.status = 412};
    LoopbackAnswer answer = ServeContent(request, content);
    answer.headers[0] = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT";
    return answer;
  });
  EXPECT_THAT(ReadAll(server.url("a")),
              FailsWith(StatusCode::kFailedPrecondition, "it had 300000 bytes of Sun, 06 Nov"));
}

TEST(RemoteFile, AWholeFileThatChangesWhileItsConnectionBreaksIsAnError) {
  const TempDir cache;
  const ScopedRemoteOptions options({.cache = cache / "cache"});
  const LoopbackServer server([&](const LoopbackRequest&, int number) {
    // The first answer is for the first bytes, the second breaks off, the third has changed.
    LoopbackAnswer answer{.body = std::string(300'000, number < 2 ? 'a' : 'b')};
    if (number == 1) answer.cut = 200'000;
    return answer;
  });
  EXPECT_THAT(ReadAll(server.url("a")),
              FailsWith(StatusCode::kFailedPrecondition, "first 200000 bytes are others"));
}

TEST(RemoteFile, AServerThatSendsNoPartsIsReadThroughACopy) {
  const TempDir cache;
  const std::string content = NumberedBytes(300'000);
  for (const char* length : {"Content-Length: 300000", "Transfer-Encoding: chunked"}) {
    const ScopedRemoteOptions options({.cache = cache / "cache"});
    const LoopbackServer server([&](const LoopbackRequest&, int number) {
      LoopbackAnswer answer{.headers = {length}, .body = content};
      if (std::string_view(length).starts_with("Transfer")) {
        answer.headers.push_back("ETag: \"chunked\"");
        answer.body = "493e0\r\n" + content + "\r\n0\r\n\r\n";
      }
      if (number == 1) answer.cut = 1000;  // the second answer is for the copy
      return answer;
    });
    EXPECT_TRUE(*ReadAll(server.url("a")) == content) << length;
  }
}

TEST(RemoteFile, AFileThatChangesWhileItIsReadIsAnError) {
  const ScopedRemoteOptions options;
  for (const bool understands_conditions : {true, false}) {
    const LoopbackServer server([&](const LoopbackRequest& request, int number) {
      const std::string content(300'000, number == 0 ? 'a' : 'b');
      LoopbackRequest asked = request;
      if (!understands_conditions) asked.headers.erase("if-match");
      return ServeContent(asked, content, number == 0 ? "\"old\"" : "\"new\"");
    });
    EXPECT_THAT(ReadAll(server.url("a")),
                FailsWith(StatusCode::kFailedPrecondition,
                          server.url("a") + ": the file changed while it was read: it had 300000 "
                                            "bytes and the tag \"old\""));
  }
}

TEST(RemoteFile, AnswersThatLieAreErrors) {
  struct Case {
    const char* range;
    const char* says;
  };
  for (const Case& lie :
       {Case{"Content-Range: bytes 100-199/300000", "sends a part"},
        Case{"Content-Range: bytes 0-65535/*", "sends a part"},
        Case{"Content-Range: bytes 5-3/1", "sends a part"}, Case{"X: y", "sends a part"}}) {
    const ScopedRemoteOptions options;
    const LoopbackServer server([&](const LoopbackRequest&, int) {
      return LoopbackAnswer{
          .status = 206, .headers = {lie.range}, .body = std::string(65'536, 'x')};
    });
    // Trouble of the server, not a damaged file: no policy for bad elements may skip it.
    EXPECT_THAT(ReadAll(server.url("a")), FailsWith(StatusCode::kUnavailable, lie.says))
        << lie.range;
  }
}

TEST(RemoteFile, ASizeThatLiesIsAnErrorAndNeverWaitsForEver) {
  const ScopedRemoteOptions options({.retries = 1});
  const std::string content = NumberedBytes(100'000);
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    LoopbackAnswer answer = ServeContent(request, content);
    for (std::string& header : answer.headers) {
      const size_t at = header.find("/100000");
      if (at != header.npos) header.replace(at, 7, "/900000");
    }
    return answer;
  });
  EXPECT_THAT(ReadAll(server.url("a")),
              FailsWith(StatusCode::kFailedPrecondition, "the file changed while it was read"));
}

// A list has named the version of the file, so no byte of it was fetched before.
TEST(RemoteFile, TheTextOfAnErrorIsReadForALimitedTimeThoughItNeverEnds) {
  for (const int status : {404, 503}) {
    const LoopbackServer server([status](const LoopbackRequest&, int) {
      return LoopbackAnswer{.status = status,
                            .headers = {"Content-Length: 4611686018427387904"},
                            .body = std::string(1 << 20, 'x'),
                            .drips = true};
    });
    const ScopedRemoteOptions options({.retries = 1, .timeout = 1});
    EXPECT_THAT(File::Open(server.url("a")).status().message(),
                ::testing::HasSubstr(fmt::format("{}", status)));
    EXPECT_EQ(server.requests(), status == 503 ? 2 : 1);
  }
}

TEST(RemoteFile, AnswersWithoutBytesAreAnErrorAndNotAskedForAgain) {
  const ScopedRemoteOptions options;
  const std::string content = NumberedBytes(200'000);
  const LoopbackServer server([&](const LoopbackRequest& request, int number) {
    LoopbackAnswer answer = ServeContent(request, content);
    answer.body.clear();
    return number < 10 ? answer : LoopbackAnswer{.status = 404};
  });
  for (const uint64_t offset : {uint64_t{0}, uint64_t{100'000}}) {
    const std::string url = server.url(fmt::format("silent-{}", offset));
    RemoteFile::Know(url, {.size = content.size(), .etag = "\"v1\""});
    STOKER_ASSERT_OK_AND_ASSIGN(const auto file, RemoteFile::Open(url));
    std::byte first;
    EXPECT_THAT(
        file->ReadUpTo(offset, {&first, 1}),
        FailsWith(StatusCode::kUnavailable, fmt::format("byte {}: the server says that the "
                                                        "file has 200000 bytes, but sends no",
                                                        offset)));
  }
  EXPECT_EQ(server.requests(), 2);
}

}  // namespace stoker::remote_file_answers_test
