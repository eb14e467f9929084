// Sources whose files are on a server, resumed in their middle.
#include <fmt/format.h>

#include "stoker/data/sources/binary.h"
#include "stoker/data/sources/csv.h"
#include "stoker/data/sources/lines.h"
#include "stoker/data/testing/combining.h"
#include "stoker/data/testing/testing.h"
#include "stoker/io/gzip.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"

namespace stoker::remote_sources_test {

// Saves after `before` elements, opens the pass anew, restores and reads the rest; the bytes that
// the server sent for that.
Result<size_t> BytesToResume(const Dataset& dataset, int64_t before, const LoopbackServer& server,
                             std::vector<Element>& rest) {
  STOKER_ASSIGN_OR_RETURN(const auto first, dataset.Open(Runtime::Inline()));
  for (int64_t i = 0; i < before; ++i) STOKER_RETURN_IF_ERROR(first->Next().status());
  STOKER_ASSIGN_OR_RETURN(const Json state, first->Save());
  const size_t sent = server.sent();
  STOKER_ASSIGN_OR_RETURN(const auto resumed, dataset.Open(Runtime::Inline()));
  STOKER_RETURN_IF_ERROR(resumed->Restore(state));
  STOKER_ASSIGN_OR_RETURN(rest, ReadAll(*resumed));
  return server.sent() - sent;
}

class RemoteSourcesTest : public ::testing::Test {
 protected:
  RemoteSourcesTest() {
    for (int64_t i = 0; i < kRows; ++i) content_ += fmt::format("{:09}\n", i);
  }
  static constexpr int64_t kRows = 400'000, kRowBytes = 10;
  // A part that is under way when the pass is saved may still be sent afterwards.
  const ScopedRemoteOptions options_{{.connections = 1, .read_ahead = 128 << 10}};
  static constexpr size_t kUnderWay = 256 << 10;
  std::string content_;
};

TEST_F(RemoteSourcesTest, APassThatIsResumedAsksForTheRestOfAPlainFileOnly) {
  const LoopbackServer server(
      [&](const LoopbackRequest& request, int) { return ServeContent(request, content_); });
  constexpr int64_t kBefore = kRows * 3 / 4;
  const std::pair<const char*, Result<Dataset>> kSources[] = {
      {"lines", Source(Lines{.path = server.url("a.txt")})},
      {"csv", Source(Csv{.files = server.url("a.csv"), .index = "none"})},
      {"binary", Source(Binary{.files = server.url("a.bin"),
                               .fields = BinaryFields({{.name = "row", .shape = {kRowBytes}}})})}};
  for (const auto& [name, dataset] : kSources) {
    STOKER_ASSERT_OK(dataset);
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all,
                                ReadAll(*dataset, Runtime::Inline()));
    ASSERT_EQ(std::ssize(all), kRows) << name;
    std::vector<Element> rest;
    STOKER_ASSERT_OK_AND_ASSIGN(const size_t sent, BytesToResume(*dataset, kBefore, server, rest));
    EXPECT_EQ(Fingerprint(rest), Fingerprint({all.begin() + kBefore, all.end()})) << name;
    EXPECT_LE(sent, content_.size() - kBefore * kRowBytes + kUnderWay) << name;
  }
}

TEST_F(RemoteSourcesTest, AReadByPositionThatWaitsForTheServerEndsWhenThePassIsToldToStop) {
  std::atomic<bool> stop{false}, release{false};
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    const bool silent = !request.headers.at("range").starts_with("bytes=0-");
    if (silent) stop = true;
    while (silent && !release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ServeContent(request, content_);
  });
  for (const auto kind : {Runtime::Kind::kInline, Runtime::Kind::kThreaded}) {
    stop = false;
    const std::string name = kind == Runtime::Kind::kInline ? "inline" : "threaded";
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Dataset dataset,
        Source(Binary{.files = server.url(name),
                      .fields = BinaryFields({{.name = "row", .shape = {100'000}}})}));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto pass,
                                dataset.Open({.kind = kind, .threads = 2, .stop = &stop}));
    EXPECT_THAT(ReadAll(*pass), FailsWith(StatusCode::kCancelled, ""));
  }
  release = true;
}

TEST_F(RemoteSourcesTest, ACompressedFileIsReadAgainFromItsStart) {
  const std::vector<std::byte> packed = *GzipCompress(std::as_bytes(std::span(content_)));
  const std::string stored(reinterpret_cast<const char*>(packed.data()), packed.size());
  const LoopbackServer server(
      [&](const LoopbackRequest& request, int) { return ServeContent(request, stored); });
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Lines{.path = server.url("a.txt.gz")}));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(dataset, Runtime::Inline()));
  std::vector<Element> rest;
  constexpr int64_t kBefore = kRows / 2;
  STOKER_ASSERT_OK(BytesToResume(dataset, kBefore, server, rest).status());
  EXPECT_EQ(Fingerprint(rest), Fingerprint({all.begin() + kBefore, all.end()}));
}

}  // namespace stoker::remote_sources_test
