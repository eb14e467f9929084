#include "stoker/formats/text/line_numbers.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>

#include "stoker/base/stop_scope.h"
#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"

namespace stoker::line_numbers_test {

TEST(LineNumbers, AreThoseThatCountingFromTheBeginningGivesInWhateverOrderTheyAreAskedFor) {
  const TempDir directory;
  const std::string path = (directory.path() / "text").string();
  std::string text;
  // Lines of 0 to 999 bytes, three MiB of them, so that many parts are counted.
  for (size_t line = 0; text.size() < 3 << 20; ++line) text += std::string(line % 1000, 'x') + "\n";
  STOKER_ASSERT_OK(WriteFileAtomically(path, text));
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(path));
  const auto wanted = [&](size_t offset) {
    return 1 + std::count(text.begin(), text.begin() + static_cast<int64_t>(offset), '\n');
  };
  const LineNumbers numbers;
  const size_t part = 1 << 20;
  for (const size_t offset : {text.size(), size_t{0}, part - 1, part, part + 1, 2 * part + 77,
                              size_t{1}, text.size() - 1}) {
    SCOPED_TRACE(offset);
    EXPECT_EQ(numbers.LineAt(file, offset), wanted(offset));
  }
}

TEST(LineNumbers, OfWhatCannotBeReadAreNotKnown) {
  const TempDir directory;
  const std::string path = (directory.path() / "text").string();
  STOKER_ASSERT_OK(WriteFileAtomically(path, "a\nb\n"));
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(path));
  const LineNumbers numbers;
  EXPECT_EQ(numbers.LineAt(file, 5), 0);
  EXPECT_EQ(numbers.LineAt(file, LineNumbers::kMostCounted + 1), 0);
  EXPECT_EQ(numbers.LineAt(file, 4), 3);
}

TEST(LineNumbers, ReadOnlyWhatFollowsTheLineAskedForLast) {
  const TempDir directory;
  const std::string path = (directory.path() / "text").string();
  STOKER_ASSERT_OK(WriteFileAtomically(path, std::string(1000, '\n')));
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(path));
  const LineNumbers numbers;
  EXPECT_EQ(numbers.LineAt(file, 600), 601);
  // A count that began before byte 600 again would lack these lines.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const std::string text(600, 'x');
  EXPECT_EQ(::pwrite(fd, text.data(), text.size(), 0), 600);
  ::close(fd);
  EXPECT_EQ(numbers.LineAt(file, 600), 601);
  EXPECT_EQ(numbers.LineAt(file, 700), 701);
}

TEST(LineNumbers, AThreadThatWaitsForAnothersCountCanBeStopped) {
  const TempDir directory;
  const std::string path = (directory.path() / "text").string();
  STOKER_ASSERT_OK(WriteFileAtomically(path, "a\nb\n"));
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(path));
  const LineNumbers numbers;
  std::promise<void> counting, may_go_on;
  std::atomic<bool> first = true;
  const auto one = std::async(std::launch::async, [&] {
    // What asks whether to stop in the middle of a count holds it up here.
    const StopScope scope([&] {
      if (first.exchange(false)) {
        counting.set_value();
        may_go_on.get_future().wait();
      }
      return false;
    });
    EXPECT_EQ(numbers.LineAt(file, 2), 2);
  });
  counting.get_future().wait();
  const auto other = std::async(std::launch::async, [&] {
    const StopScope scope([] { return true; });
    EXPECT_EQ(numbers.LineAt(file, 2), 0);
  });
  EXPECT_EQ(other.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  may_go_on.set_value();
}

}  // namespace stoker::line_numbers_test
