#include "stoker/io/remote/remote_file.h"

#include <array>
#include <atomic>
#include <thread>

#include "stoker/base/log.h"
#include "stoker/base/stop_scope.h"
#include "stoker/base/testing.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"
#include "stoker/io/remote/remote_file_testing_internal.h"
#include "stoker/io/remote/stalled_server_testing_internal.h"

namespace stoker::remote_file_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(RemoteFile, IsReadByPositionAndAsksOnceForWhatIsSmall) {
  const ScopedRemoteOptions options;
  const std::string content = NumberedBytes(200'000);
  const LoopbackServer server(
      [&](const LoopbackRequest& request, int) { return ServeContent(request, content); });
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(server.url("a")));
  EXPECT_EQ(file.size(), content.size());
  EXPECT_EQ(server.requests(), 1);
  std::string part(100, '\0');
  const auto out = std::as_writable_bytes(std::span(part));
  STOKER_ASSERT_OK(file.ReadAt(10, out));  // of the bytes that came with the first answer
  EXPECT_EQ(part, content.substr(10, 100));
  EXPECT_EQ(server.requests(), 1);
  STOKER_ASSERT_OK(file.ReadAt(150'000, out));
  EXPECT_EQ(part, content.substr(150'000, 100));
  EXPECT_EQ(server.requests(), 2);
  STOKER_ASSERT_OK_AND_ASSIGN(const size_t got, file.ReadUpTo(199'990, out));
  EXPECT_EQ(got, 10u);
  EXPECT_THAT(file.ReadAt(199'990, out), FailsWith(StatusCode::kDataLoss, "byte 199990: 100"));
}

TEST(RemoteFile, EmptyFileHasNoBytes) {
  const ScopedRemoteOptions options;
  const LoopbackServer server(
      [&](const LoopbackRequest& request, int) { return ServeContent(request, ""); });
  EXPECT_EQ(*ReadAll(server.url("empty")), "");
}

TEST(RemoteFile, IsTriedAgainAfterAnswersThatPass) {
  for (const int status : {408, 429, 500, 502, 503, 504}) {
    const ScopedRemoteOptions options;
    const LoopbackServer server([&](const LoopbackRequest& request, int number) {
      return number < 3 ? LoopbackAnswer{.status = status} : ServeContent(request, "content");
    });
    EXPECT_EQ(*ReadAll(server.url("a")), "content") << status;
    EXPECT_EQ(server.requests(), 4);
  }
}

TEST(RemoteFile, AnAnswerThatBreaksOffInItsHeadIsNotAnEmptyFile) {
  const ScopedRemoteOptions options;
  const LoopbackServer server([&](const LoopbackRequest& request, int number) {
    LoopbackAnswer answer = ServeContent(request, "content");
    if (number < 2) answer = {.headers = {"X-Note: cut"}, .cut_head = true};
    if (number == 1) answer.headers = {"Transfer-Encoding: chunked"};
    return answer;
  });
  EXPECT_EQ(*ReadAll(server.url("a")), "content");
  EXPECT_EQ(server.requests(), 3);
}

TEST(RemoteFile, SaysWhatTheServerAnsweredWhenTriesRunOut) {
  const ScopedRemoteOptions options({.retries = 2});
  const LoopbackServer server(
      [&](const LoopbackRequest&, int) { return LoopbackAnswer{.status = 503}; });
  EXPECT_THAT(
      ReadAll(server.url("a")),
      FailsWith(StatusCode::kUnavailable, server.url("a") + ": byte 0: HTTP 503, after 3 "));
  EXPECT_EQ(server.requests(), 3);
}

TEST(RemoteFile, TheServersOwnWaitIsKept) {
  const ScopedRemoteOptions options;
  const LoopbackServer server([&](const LoopbackRequest& request, int number) {
    if (number > 0) return ServeContent(request, "content");
    return LoopbackAnswer{.status = 503, .headers = {"Retry-After: 1"}};
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(*ReadAll(server.url("a")), "content");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST(RemoteFile, AWaitThatIsTooLongIsAnError) {
  const ScopedRemoteOptions options;
  const LoopbackServer server([&](const LoopbackRequest&, int) {
    return LoopbackAnswer{.status = 429, .headers = {"Retry-After: 4000"}};
  });
  EXPECT_THAT(ReadAll(server.url("a")),
              FailsWith(StatusCode::kUnavailable, "the server asks for a retry after 4000 s"));
}

TEST(RemoteFile, IsNotTriedAgainWhereThatCannotHelp) {
  struct Case {
    int status;
    StatusCode code;
    const char* says;
  };
  for (const Case& wrong : {Case{404, StatusCode::kNotFound, "HTTP 404: no such file"},
                            Case{403, StatusCode::kPermissionDenied, "refuses access"},
                            Case{401, StatusCode::kPermissionDenied, "~/.netrc"},
                            Case{400, StatusCode::kFailedPrecondition, "HTTP 400"}}) {
    const ScopedRemoteOptions options;
    const LoopbackServer server(
        [&](const LoopbackRequest&, int) { return LoopbackAnswer{.status = wrong.status}; });
    EXPECT_THAT(ReadAll(server.url("a")), FailsWith(wrong.code, wrong.says)) << wrong.status;
    EXPECT_EQ(server.requests(), 1);
  }
}

// At a port where a server was and is no more.
std::string UrlOfNobody() {
  const LoopbackServer server([](const LoopbackRequest&, int) { return LoopbackAnswer{}; });
  return server.url("a");
}

TEST(RemoteFile, NobodyWhoListensIsSaidSo) {
  const ScopedRemoteOptions options({.retries = 1});
  EXPECT_THAT(ReadAll(UrlOfNobody()), FailsWith(StatusCode::kUnavailable, "check the host's name"));
}

TEST(RemoteFile, AServerThatWasNeverReachedIsGivenUpAfterThreeTriesHoweverManyThereAre) {
  const ScopedRemoteOptions options({.retries = 9});
  EXPECT_THAT(ReadAll(UrlOfNobody()), FailsWith(StatusCode::kUnavailable, "after 3 tries"));
}

// Its name is right, so it is away for a while.
TEST(RemoteFile, AServerThatHasAnsweredBeforeIsTriedAsOftenAsAnyOther) {
  const ScopedRemoteOptions options({.retries = 9});
  std::string url;
  {
    const LoopbackServer server(
        [](const LoopbackRequest& request, int) { return ServeContent(request, "content"); });
    url = server.url("b");
    EXPECT_EQ(*ReadAll(server.url("a")), "content");
  }
  EXPECT_THAT(ReadAll(url), FailsWith(StatusCode::kUnavailable, "after 10 tries"));
}

TEST(RemoteFile, ALongWaitThatAServerAsksForIsReportedOnceAServer) {
  const ScopedRemoteOptions options;
  std::atomic<int> told = 0;
  SetLogSink([&](LogLevel, std::string_view message) {
    told += message.find("asks for a retry after 5 s") != message.npos ? 1 : 0;
  });
  const auto busy = [](const LoopbackRequest& request, int number) {
    if (number % 2 == 1) return ServeContent(request, "content");
    return LoopbackAnswer{.status = 429, .headers = {"Retry-After: 5"}};
  };
  const LoopbackServer server(busy), other(busy);
  std::thread beside([&] { EXPECT_EQ(*ReadAll(other.url("a")), "content"); });
  for (const char* name : {"a", "b"}) EXPECT_EQ(*ReadAll(server.url(name)), "content");
  beside.join();
  SetLogSink(nullptr);
  EXPECT_EQ(told, 2);
}

TEST(RemoteFile, ATransferThatBreaksGoesOnWhereItStood) {
  const ScopedRemoteOptions options;
  const std::string content = NumberedBytes(3'000'000);
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    LoopbackAnswer answer = ServeContent(request, content);
    if (answer.body.size() > 100'000) answer.cut = 100'000;
    return answer;
  });
  EXPECT_TRUE(*ReadAll(server.url("a")) == content);
  EXPECT_EQ(server.sent(), content.size());  // nothing twice
}

TEST(RemoteFile, ATransferThatAlwaysBreaksAtOnceIsAnErrorWithItsByte) {
  const ScopedRemoteOptions options({.retries = 3});
  const std::string content = NumberedBytes(200'000);
  const LoopbackServer server([&](const LoopbackRequest& request, int number) {
    LoopbackAnswer answer = ServeContent(request, content);
    if (number > 0) answer.cut = 0;
    return answer;
  });
  EXPECT_THAT(ReadAll(server.url("a")), FailsWith(StatusCode::kUnavailable, "after 4 tries"));
}

// The first bytes of the file among them, which are asked for before anything is known of it.
TEST(RemoteFile, AConnectionThatBringsALittleEachTimeMayBreakAsOftenAsItLikes) {
  const std::string content = NumberedBytes(150'000);
  for (const char* part : {"206", "200"}) {
    const TempDir cache;
    const ScopedRemoteOptions options({.retries = 1, .cache = cache / "cache"});
    const LoopbackServer server([&](const LoopbackRequest& request, int number) {
      LoopbackRequest asked = request;
      if (std::string_view(part) == "200") asked.headers.erase("range");
      LoopbackAnswer answer = ServeContent(asked, content);
      // Of a server without parts each answer begins anew.
      const size_t cut = asked.headers.contains("range") ? 3'000 : 3'000 * (number % 60 + 1);
      if (answer.body.size() > cut) answer.cut = cut;
      return answer;
    });
    const Result<std::string> all = ReadAll(server.url("a"));
    STOKER_ASSERT_OK(all);
    EXPECT_TRUE(*all == content) << part;
  }
}

// In the first answer, of which nothing was known, and in those for later parts.
TEST(RemoteFile, WhoAsksWhatIsHereDoesNotWaitForARequest) {
  const ScopedRemoteOptions options;
  std::atomic<bool> release = false, released = false;
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    // Ends in any case, so that one who waits fails the test and does not hang in it.
    for (int i = 0; i < 10'000 && !release; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    released = true;
    return ServeContent(request, "content");
  });
  RemoteFile::Know(server.url("a"), {.size = 7, .etag = "\"v1\""});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto file, RemoteFile::Open(server.url("a")));
  std::array<std::byte, 7> content;
  std::thread reader([&] { STOKER_EXPECT_OK(file->ReadUpTo(0, content).status()); });
  while (server.requests() == 0) std::this_thread::yield();
  EXPECT_TRUE(file->head().empty());
  // Another reader waits for the same answer, but not longer than it wants to.
  Cancellation cancel;
  cancel.Cancel();
  std::byte first;
  EXPECT_THAT(file->ReadUpTo(0, {&first, 1}, &cancel),
              FailsWith(StatusCode::kCancelled, "byte 0: reading was ended"));
  EXPECT_FALSE(released);
  release = true;
  reader.join();
  EXPECT_EQ(file->head().size(), 7u);
}

TEST(RemoteFile, MessagesHaveNoPasswordsAndNoQuery) {
  const ScopedRemoteOptions options;
  const LoopbackServer server(
      [&](const LoopbackRequest&, int) { return LoopbackAnswer{.status = 404}; });
  const std::string url =
      "http://user:secret@" + server.root().substr(7) + "/a?X-Amz-Signature=hidden";
  const Status status = ReadAll(url).status();
  EXPECT_THAT(status.message(), AllOf(HasSubstr(server.url("a") + "?..."), Not(HasSubstr("secret")),
                                      Not(HasSubstr("hidden"))));
}

TEST(RemoteFile, RedirectsAreFollowed) {
  const ScopedRemoteOptions options;
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    if (request.target == "/a") return LoopbackAnswer{.status = 302, .headers = {"Location: /b"}};
    return ServeContent(request, "content");
  });
  EXPECT_EQ(*ReadAll(server.url("a")), "content");
}

// True from the fourth time on that it is asked.
std::function<bool()> AfterAWhile() {
  return [asked = 0]() mutable { return ++asked > 3; };
}

TEST(RemoteFile, AReadThatWaitsForTheServerEndsWhereItsThreadIsToldToStop) {
  const ScopedRemoteOptions options;
  StalledServer server;
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(server.url("a")));
  std::byte some[100];
  {
    const StopScope stopped(AfterAWhile());
    EXPECT_THAT(file.ReadAt(1'000'000, some),
                FailsWith(StatusCode::kCancelled, "reading was ended"));
  }
  server.Release();
  STOKER_EXPECT_OK(file.ReadAt(1'500'000, some)) << "the scope is over";
}

TEST(Cancellation, AWaitBetweenTwoTriesAsksMeanwhile) {
  Cancellation cancellation(AfterAWhile());
  EXPECT_TRUE(cancellation.WaitFor(/*seconds=*/1e6));
  Cancellation nobody_asked{nullptr};
  EXPECT_FALSE(nobody_asked.WaitFor(/*seconds=*/0.001));
}

}  // namespace stoker::remote_file_test
