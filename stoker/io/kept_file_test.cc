#include "stoker/io/kept_file.h"

#include <sys/stat.h>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"

namespace stoker::kept_file_test {

TEST(ReadKeptTextFile, ReadsAFileAndRefusesAPipeInItsPlaceAtOnce) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a", "12345"));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string text, ReadKeptTextFile(dir / "a"));
  EXPECT_EQ(text, "12345");
  EXPECT_THAT(ReadKeptTextFile(dir / "a", 4),
              FailsWith(StatusCode::kResourceExhausted, "longer than 4 bytes"));
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(ReadKeptTextFile(dir / "pipe"),
              FailsWith(StatusCode::kFailedPrecondition, "is a pipe, socket or device"));
  EXPECT_THAT(ReadKeptTextFile("/dev/zero"),
              FailsWith(StatusCode::kFailedPrecondition, "put the file back"));
  EXPECT_THAT(
      ReadKeptTextFile(dir.path().string()),
      FailsWith(StatusCode::kFailedPrecondition, "is a directory, and a file belongs here"));
  EXPECT_THAT(ReadKeptTextFile(dir / "b"), FailsWith(StatusCode::kNotFound, "no such file"));
}

}  // namespace stoker::kept_file_test
