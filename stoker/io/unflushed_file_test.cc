#include "stoker/io/unflushed_file.h"

#include <filesystem>

#include "stoker/base/testing.h"
#include "stoker/io/file.h"

namespace stoker::unflushed_file_test {

TEST(WriteFileUnflushed, ReplacesAFileAndLeavesNothingElse) {
  const TempDir directory;
  const std::string path = (directory.path() / "now").string();
  for (const char* text : {"first", "second, longer", ""}) {
    STOKER_ASSERT_OK(WriteFileUnflushed(path, text));
    EXPECT_EQ(*ReadTextFile(path), text);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(WriteFileUnflushed, NamesTheFileThatItCannotWriteAndLeavesNothing) {
  const TempDir directory;
  EXPECT_THAT(WriteFileUnflushed((directory.path() / "none/now").string(), "x"),
              FailsWith(StatusCode::kNotFound, "none/now"));
  std::filesystem::create_directory(directory.path() / "now");
  EXPECT_FALSE(WriteFileUnflushed((directory.path() / "now").string(), "x").ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

}  // namespace stoker::unflushed_file_test
