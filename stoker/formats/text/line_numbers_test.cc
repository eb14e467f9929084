#include "stoker/formats/text/line_numbers.h"

#include <string>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"

namespace stoker {
namespace {

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

}  // namespace
}  // namespace stoker
