#include "stoker/io/remote/remote_source.h"

#include <memory>
#include <string>

#include "stoker/base/ledger.h"
#include "stoker/base/testing.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"
#include "stoker/io/remote/stalled_server_testing_internal.h"

namespace stoker {
namespace {

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
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto source, OpenByteSourceAt(server.url("a"), 100'000, nullptr, [] { return true; }));
  std::byte first;
  EXPECT_THAT(source->Read({&first, 1}), FailsWith(StatusCode::kCancelled, "asked to stop"));
  server.Release();
}

}  // namespace
}  // namespace stoker
