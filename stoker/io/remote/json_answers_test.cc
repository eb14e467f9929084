// The JSON of stores costs no more memory than its text and what is kept of it.
#include <sys/resource.h>

#include <algorithm>

#include "stoker/base/testing.h"
#include "stoker/io/remote/gcs_json.h"
#include "stoker/io/remote/webhdfs_json.h"

namespace stoker::json_answers_test {

// The most memory that this process has had, in bytes.
size_t PeakBytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) << 10;
}

// `text` after `begin`, as often as it takes to have this many bytes.
std::string Repeated(std::string_view begin, std::string_view text, size_t bytes) {
  std::string out(begin);
  out.reserve(bytes + text.size());
  while (out.size() < bytes) out += text;
  return out;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // a sanitizer keeps what was freed
#else
constexpr bool kSanitized = false;
#endif

TEST(JsonAnswers, ATextThatIsNoListTakesFewTimesItsOwnMemory) {
  if (kSanitized) GTEST_SKIP();
  constexpr size_t kBytes = 8 << 20;
  for (const char* begin : {"", R"({"items":[)", R"({"prefixes":[)", R"({"x":[)",
                            R"({"FileStatuses":{"FileStatus":[)", R"({"FileStatuses":{"x":[)"}) {
    for (const char* repeated :
         {"[", "{\"a\":", "[0,", "0,", "{},", "[],", "\"\",", "{\"a\":[[],[],[],[]]},"}) {
      const std::string text = Repeated(begin, repeated, kBytes);
      const size_t before = PeakBytes();
      EXPECT_FALSE(ParseGcsPage(text).ok());
      EXPECT_FALSE(ParseWebHdfsPage(text).ok());
      EXPECT_FALSE(ParseWebHdfsStatus(text).ok());
      EXPECT_FALSE(ParseGcsToken(text).ok());
      EXPECT_FALSE(ParseGcsCredentials(text).ok());
      EXPECT_EQ(ParseWebHdfsError(text).code, "");
      EXPECT_EQ(ParseGcsError(text).code, "");
      // The parser itself copies what has neither texts nor numbers in it.
      ASSERT_LT(PeakBytes(), before + 4 * kBytes) << begin << repeated;
    }
  }
}

TEST(JsonAnswers, ALongListTakesTheMemoryOfItsEntries) {
  if (kSanitized) GTEST_SKIP();
  const std::string entry =
      R"({"accessTime":1320171722771,"blockSize":33554432,"childrenNum":0,"fileId":16387,"group":)"
      R"("supergroup","length":24930,"modificationTime":1320171722771,"owner":"webuser",)"
      R"("pathSuffix":"a.patch","permission":"644","replication":1,"storagePolicy":0,"type":"FILE"})";
  constexpr size_t kBytes = 24 << 20;
  std::string text = Repeated(R"({"FileStatuses":{"FileStatus":[)", entry + ",", kBytes);
  text.back() = ']';
  text += "}}";
  const size_t before = PeakBytes();
  STOKER_ASSERT_OK_AND_ASSIGN(const WebHdfsPage page, ParseWebHdfsPage(text));
  EXPECT_EQ(page.entries.size(), (text.size() - 33) / (entry.size() + 1));
  EXPECT_EQ(page.entries.back().name, "a.patch");
  EXPECT_EQ(page.entries.back().size, 24930u);
  EXPECT_EQ(page.entries.back().tag, "\"16387-1320171722771\"");
  EXPECT_LT(PeakBytes(), before + 2 * kBytes);
}

TEST(JsonAnswers, ListsAreFoundWhereverTheyStandAmongOtherMembers) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const WebHdfsPage page,
      ParseWebHdfsPage(R"({"DirectoryListing": {"remainingEntries": 5, "partialListing":
          {"FileStatuses": {"FileStatus": [{"pathSuffix": "a", "type": "FILE", "length": 1,
          "modificationTime": 1, "ec": {"x": [1, {"y": 2}]}}]}}, "more": [[1]]}})"));
  EXPECT_TRUE(page.more);
  ASSERT_EQ(page.entries.size(), 1u);
  STOKER_ASSERT_OK_AND_ASSIGN(
      const HttpStore::Page objects,
      ParseGcsPage(R"({"prefixes": ["a/", "b/"], "kind": "k", "items": [{"name": "n", "size": "7",
          "generation": "3", "metadata": {"items": [1, 2]}}], "nextPageToken": "t"})"));
  EXPECT_EQ(objects.folders, 2);
  EXPECT_EQ(objects.continuation, "t");
  ASSERT_EQ(objects.objects.size(), 1u);
  EXPECT_EQ(objects.objects[0].size, 7u);
}

}  // namespace stoker::json_answers_test
