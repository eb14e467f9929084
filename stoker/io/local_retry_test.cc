#include "stoker/io/local_retry.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "stoker/base/stop_scope.h"
#include "stoker/base/testing.h"
#include "stoker/io/few_files_testing_internal.h"
#include "stoker/io/file.h"

namespace stoker::local_retry_test {

constexpr auto kAWhile = std::chrono::milliseconds(100);

class LocalRetryTest : public testing::Test {
 protected:
  LocalRetryTest() { std::ofstream(path_) << "content"; }

#if defined(__SANITIZE_ADDRESS__)
  void SetUp() override { GTEST_SKIP() << "the sanitizer's own checks need descriptors"; }
#endif

  const TempDir directory_;
  const std::string path_ = directory_ / "file";
};

TEST_F(LocalRetryTest, AFileIsOpenedOnceDescriptorsAreFreeAgain) {
  const StopScope scope([] { return false; });
  NoMoreFiles trouble;
  std::thread helper([&] {
    std::this_thread::sleep_for(kAWhile);
    trouble.Lift();
  });
  const Result<File> file = File::Open(path_);
  helper.join();
  STOKER_ASSERT_OK(file);
  EXPECT_EQ(file->size(), 7u);
}

TEST_F(LocalRetryTest, AWaitEndsWhenThePassIsAskedToStop) {
  std::atomic<bool> stop{false};
  const StopScope scope([&] { return stop.load(); });
  NoMoreFiles trouble;
  std::thread helper([&] {
    std::this_thread::sleep_for(kAWhile);
    stop = true;
  });
  const Status opened = File::Open(path_).status();
  helper.join();
  EXPECT_THAT(opened, FailsWith(StatusCode::kCancelled, path_));
}

TEST_F(LocalRetryTest, AThreadThatWorksForNoPassIsToldAtOnce) {
  const NoMoreFiles trouble;
  EXPECT_THAT(File::Open(path_),
              FailsWith(StatusCode::kResourceExhausted, "close some files, or raise the limit"));
}

TEST_F(LocalRetryTest, AReadThatTheDiskRefusesIsNoDamage) {
  // Nothing is mapped at the first page, and reading there fails as a broken disk does: EIO.
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open("/proc/self/mem"));
  std::byte byte;
  EXPECT_THAT(file.ReadAt(0, {&byte, 1}),
              FailsWith(StatusCode::kUnavailable, "/proc/self/mem: byte 0: cannot read"));
}

TEST(LocalRetry, GivesUpOnceItsPatienceIsUsedUp) {
  const StopScope scope([] { return false; });
  LocalRetry retry("file", /*patience_seconds=*/0.05);
  const Stopwatch stopwatch;
  int tries = 0;
  while (retry.Again(EMFILE)) ++tries;
  EXPECT_EQ(errno, EMFILE);
  EXPECT_GT(tries, 1);
  EXPECT_GE(stopwatch.ElapsedSeconds(), 0.05);
}

TEST(LocalRetry, DoesNotWaitForWhatStaysAsItIs) {
  const StopScope scope([] { return false; });
  for (const int error_number : {ENOENT, EACCES, EISDIR, EINVAL, ENOSPC, EBADF}) {
    EXPECT_FALSE(LocalRetry("file").Again(error_number)) << error_number;
    EXPECT_EQ(errno, error_number);
  }
}

TEST(LocalRetry, RepeatsWhatASignalHasInterruptedOnAnyThread) {
  LocalRetry retry("file", /*patience_seconds=*/0);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(retry.Again(EINTR));
}

}  // namespace stoker::local_retry_test
