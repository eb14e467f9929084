#include "stoker/io/remote/remote_source.h"

#include <memory>
#include <string>

#include "stoker/base/clock.h"
#include "stoker/base/ledger.h"
#include "stoker/base/stop_scope.h"
#include "stoker/base/testing.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"
#include "stoker/io/remote/stalled_server_testing_internal.h"

namespace stoker::remote_source_test {

TEST(RemoteSource, ReadsFromAnyByteOn) {
  const ScopedRemoteOptions options({.read_ahead = 1 << 20});
  const std::string content = NumberedBytes(2'000'000);
  const LoopbackServer server(
      [&](const LoopbackRequest& request, int) { return ServeContent(request, content); });
  for (const size_t offset : {size_t{1}, size_t{70'000}, content.size() - 1, content.size()}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto source,
                                OpenByteSourceAt(server.url("a"), offset, nullptr));
    std::string rest(content.size(), '\0');
    STOKER_ASSERT_OK_AND_ASSIGN(const size_t got,
                                source->ReadFully(std::as_writable_bytes(std::span(rest))));
    EXPECT_TRUE(content.substr(offset) == rest.substr(0, got)) << offset;
  }
  EXPECT_THAT(OpenByteSourceAt(server.url("a"), content.size() + 1, nullptr),
              FailsWith(StatusCode::kOutOfRange, "the content ends at byte 2000000"));
}

TEST(RemoteSource, LookingAtTheStartDoesNotFetchTheFile) {
  const ScopedRemoteOptions options;
  const std::string content = NumberedBytes(20'000'000);
  const LoopbackServer server(
      [&](const LoopbackRequest& request, int) { return ServeContent(request, content); });
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenByteSource(server.url("a")));
    std::byte first;
    STOKER_ASSERT_OK(source->Read({&first, 1}).status());
  }
  EXPECT_LT(server.sent(), 1'000'000u);
}

TEST(RemoteSource, WhoReadsBehindTheFirstPartIsReadAheadOfAtFullDepth) {
  constexpr int64_t kAhead = 1 << 20, kPart = kAhead / 8;
  const ScopedRemoteOptions options({.read_ahead = kAhead});
  const std::string content = NumberedBytes(4'000'000);
  const LoopbackServer server(
      [&](const LoopbackRequest& request, int) { return ServeContent(request, content); });
  const auto ledger = Ledger::Create(1 << 30);
  const auto account = ledger->OpenAccount("source");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenByteSource(server.url("a"), account));
  std::string start((64 << 10) + kPart, '\0');  // what came with the first answer, and a part
  const auto out = std::as_writable_bytes(std::span(start));
  STOKER_ASSERT_OK(source->ReadFully(out.first(1)).status());
  EXPECT_LT(account->bytes(), 3 * kPart);
  STOKER_ASSERT_OK(source->ReadFully(out.subspan(1)).status());
  EXPECT_GE(account->bytes(), kAhead);
}

TEST(RemoteSource, CanBeDestroyedWhileItsRequestsAreUnderWay) {
  const ScopedRemoteOptions options;
  StalledServer server;
  const auto ledger = Ledger::Create(1 << 30);
  const auto account = ledger->OpenAccount("source");
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenByteSource(server.url("a"), account));
    std::byte first;
    STOKER_ASSERT_OK(source->Read({&first, 1}).status());  // from here on it reads ahead
    EXPECT_GT(account->bytes(), 0);
  }
  EXPECT_EQ(account->bytes(), 0);
}

TEST(RemoteSource, AWaitEndsWhenThePassIsStopped) {
  const ScopedRemoteOptions options;
  StalledServer server;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto source,
                              OpenByteSourceAt(server.url("a"), 100'000, nullptr));
  std::byte first;
  const StopScope scope([asked = 0]() mutable { return ++asked > 3; });
  EXPECT_THAT(source->Read({&first, 1}), FailsWith(StatusCode::kCancelled, "asked to stop"));
  server.Release();
}

// The first bytes of a file whose version a list has told come while parts of it are under way.
TEST(RemoteSource, SmallReadsWithLittleReadAheadGetToTheEnd) {
  const std::string content = NumberedBytes(700'000);
  const LoopbackServer server(
      [&](const LoopbackRequest& request, int) { return ServeContent(request, content); });
  for (const int64_t ahead : {64 << 10, 200 << 10, 512 << 10, 600 << 10, 4 << 20}) {
    for (const size_t bytes : {777, 65'536, 100'000}) {
      const ScopedRemoteOptions options({.read_ahead = ahead});
      const std::string url = server.url(fmt::format("a-{}-{}", ahead, bytes));
      RemoteFile::Know(url, {.size = content.size(), .etag = "\"v1\""});
      STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenByteSource(url));
      // Ends in any case, so that a wait for ever fails the test and does not hang in it.
      const StopScope scope([watch = Stopwatch()] { return watch.ElapsedSeconds() > 60; });
      std::string all, part(bytes, '\0');
      while (true) {
        STOKER_ASSERT_OK_AND_ASSIGN(const size_t got,
                                    source->Read(std::as_writable_bytes(std::span(part))));
        if (got == 0) break;
        all.append(part, 0, got);
      }
      EXPECT_TRUE(all == content) << ahead << " " << bytes;
    }
  }
}

TEST(RemoteSource, AFileWithoutTagAndTimeThatChangesBetweenTwoPartsIsAnError) {
  const ScopedRemoteOptions options({.connections = 1, .read_ahead = 1 << 20});
  const std::string before = NumberedBytes(2'000'000);
  std::string after = before;
  for (char& c : after) c = static_cast<char>(c ^ 1);
  const LoopbackServer server([&](const LoopbackRequest& request, int number) {
    LoopbackAnswer answer = ServeContent(request, number < 4 ? before : after);
    std::erase_if(answer.headers, [](const auto& header) { return header.starts_with("ETag"); });
    return answer;
  });
  STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenByteSource(server.url("a")));
  std::string all(before.size(), '\0');
  EXPECT_THAT(source->ReadFully(std::as_writable_bytes(std::span(all))),
              FailsWith(StatusCode::kFailedPrecondition, "the bytes before this one are others"));
}

TEST(RemoteSource, AFileWithoutTagAndTimeThatStaysIsReadWhole) {
  const std::string content = NumberedBytes(2'000'000);
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    LoopbackAnswer answer = ServeContent(request, content);
    std::erase_if(answer.headers, [](const auto& header) { return header.starts_with("ETag"); });
    return answer;
  });
  for (const size_t offset : {0, 1, 100, 70'000, 1'999'999}) {
    const ScopedRemoteOptions options({.read_ahead = 1 << 20});
    STOKER_ASSERT_OK_AND_ASSIGN(const auto source,
                                OpenByteSourceAt(server.url("a"), offset, nullptr));
    std::string rest(content.size(), '\0');
    STOKER_ASSERT_OK_AND_ASSIGN(const size_t got,
                                source->ReadFully(std::as_writable_bytes(std::span(rest))));
    EXPECT_TRUE(content.substr(offset) == rest.substr(0, got)) << offset;
  }
}

}  // namespace stoker::remote_source_test
