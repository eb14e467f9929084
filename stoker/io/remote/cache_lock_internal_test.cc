#include "stoker/io/remote/cache_lock_internal.h"

#include <filesystem>
#include <optional>
#include <string>

#include "stoker/base/stop_scope.h"
#include "stoker/base/testing.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"
#include "stoker/io/remote/remote_file.h"

namespace stoker::cache_lock_internal_test {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(LockWait, SaysOnceThatItWaitsAndGoesOnWhereNothingHasChangedForTooLong) {
  using Then = LockWait::Then;
  LockWait wait(/*say_after=*/5, /*stalled_after=*/60);
  EXPECT_EQ(wait.Next(0, 1), Then::kWait);
  EXPECT_EQ(wait.Next(4.9, 1), Then::kWait);
  EXPECT_EQ(wait.Next(5, 1), Then::kSay);
  EXPECT_EQ(wait.Next(6, 1), Then::kWait);
  EXPECT_EQ(wait.Next(59, 2), Then::kWait) << "the copy has grown";
  EXPECT_EQ(wait.Next(118.9, 2), Then::kWait);
  EXPECT_EQ(wait.Next(119, 2), Then::kGoOn);
}

// The name of the one copy in a cache; empty if there is none.
std::string CopyIn(const std::string& directory) {
  for (const auto& entry : fs::directory_iterator(directory)) {
    std::string name = entry.path().filename();
    if (!name.starts_with('.') && !name.ends_with(".check")) return name;
  }
  return "";
}

std::string ReadLocally(const std::string& url) {
  const Result<MappedFile> file = MappedFile::Open(url);
  if (!file.ok()) return file.status().ToString();
  return {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()};
}

class CacheLockTest : public ::testing::Test {
 protected:
  const TempDir dir_;
  const std::string directory_ = dir_ / "cache";
  const std::string content_ = NumberedBytes(500'000);
  const LoopbackServer server_{
      [this](const LoopbackRequest& r, int) { return ServeContent(r, content_, "\"1\""); }};
};

// The lock of whoever fetches the copy, taken by nobody who would ever make it.
class StoppedFetch {
 public:
  StoppedFetch(const std::string& directory, const std::string& url) {
    EXPECT_TRUE(File::OpenLocally(url).ok());
    const std::string name = CopyIn(directory);
    for (const char* end : {"", ".check"}) fs::remove(directory + "/" + name + end);
    std::optional<CacheLock> lock =
        *CacheLock::TryTake(directory + "/." + name + ".lock", CacheLock::Afterwards::kRemove);
    lock_.emplace(*std::move(lock));
  }

 private:
  std::optional<CacheLock> lock_;
};

TEST_F(CacheLockTest, WhoDoesNotGetOnWithACopyIsNotWaitedForAndThatIsSaid) {
  const ScopedRemoteOptions options({.timeout = 1, .cache = directory_});
  const StoppedFetch stopped(directory_, server_.url("a"));
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(ReadLocally(server_.url("a")) == content_);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said,
              HasSubstr(server_.url("a") + ": the process or thread that copies it into the "));
  EXPECT_THAT(said, HasSubstr("made no progress for 2 s (lock " + directory_ + "/.a-"));
  EXPECT_TRUE(CopyIn(directory_).starts_with("a-"));
}

TEST_F(CacheLockTest, AWaitForAnotherOnesCopyHeedsTheStopFlag) {
  const ScopedRemoteOptions options({.cache = directory_});
  const StoppedFetch stopped(directory_, server_.url("a"));
  const StopScope scope([] { return true; });
  EXPECT_THAT(File::OpenLocally(server_.url("a")),
              FailsWith(StatusCode::kCancelled, "a: stopped while another one copies it"));
}

}  // namespace stoker::cache_lock_internal_test
