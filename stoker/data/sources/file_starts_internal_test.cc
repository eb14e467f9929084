#include "stoker/data/sources/file_starts_internal.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoker {
namespace {

TEST(FileStarts, FindEachElementInItsFileAndPassFilesWithoutElements) {
  const std::vector<int64_t> lengths = {0, 3, 0, 0, 1, 2, 0};
  FileStarts starts;
  for (const int64_t length : lengths) starts.Add(length);

  EXPECT_EQ(starts.size(), 6);
  int64_t position = 0;
  for (size_t file = 0; file < lengths.size(); ++file) {
    EXPECT_EQ(starts.begin(file), position);
    for (int64_t number = 0; number < lengths[file]; ++number, ++position) {
      EXPECT_EQ(starts.At(position).file, file);
      EXPECT_EQ(starts.At(position).number, number);
    }
    EXPECT_EQ(starts.end(file), position);
  }
}

TEST(FileStarts, OfOneFileGiveThePositionAsItsNumber) {
  FileStarts starts;
  starts.Add(5);
  EXPECT_EQ(starts.At(4).file, 0u);
  EXPECT_EQ(starts.At(4).number, 4);
}

}  // namespace
}  // namespace stoker
