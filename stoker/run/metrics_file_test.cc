#include "stoker/run/metrics_file.h"

#include <filesystem>

#include "stoker/base/testing.h"
#include "stoker/io/file.h"

namespace stoker::metrics_file_test {

Json Line(int step) { return {{"step", step}}; }

TEST(MetricsFile, IsWrittenAgainWhereItWasRemoved) {
  const TempDir dir;
  const std::string path = dir / "metrics.jsonl";
  STOKER_ASSERT_OK_AND_ASSIGN(MetricsFile file, MetricsFile::Open(path));
  STOKER_ASSERT_OK(file.Append(Line(1)));
  STOKER_ASSERT_OK(file.Append(Line(2)));
  std::filesystem::remove(path);
  STOKER_ASSERT_OK(file.Append(Line(3)));
  EXPECT_EQ(*ReadTextFile(path), "{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n");
  STOKER_EXPECT_OK(file.CheckLinesUpTo(*file.Size()));
}

TEST(MetricsFile, GoesOnInTheFileThatIsInItsPlace) {
  const TempDir dir;
  const std::string path = dir / "metrics.jsonl", edited = dir / "edited";
  STOKER_ASSERT_OK_AND_ASSIGN(MetricsFile file, MetricsFile::Open(path));
  STOKER_ASSERT_OK(file.Append(Line(1)));
  {
    STOKER_ASSERT_OK_AND_ASSIGN(MetricsFile other, MetricsFile::Open(edited));
    STOKER_ASSERT_OK(other.Append(Line(7)));
  }
  std::filesystem::rename(edited, path);
  STOKER_ASSERT_OK(file.Append(Line(2)));
  EXPECT_EQ(*ReadTextFile(path), "{\"step\":7}\n{\"step\":2}\n");
}

TEST(MetricsFile, TakesLinesWhileItsDirectoryHasAnotherName) {
  const TempDir dir;
  const std::string run = dir / "run", moved = dir / "moved";
  std::filesystem::create_directory(run);
  STOKER_ASSERT_OK_AND_ASSIGN(MetricsFile file, MetricsFile::Open(run + "/metrics.jsonl"));
  std::filesystem::rename(run, moved);
  STOKER_ASSERT_OK(file.Append(Line(1)));
  EXPECT_EQ(*ReadTextFile(moved + "/metrics.jsonl"), "{\"step\":1}\n");
}

}  // namespace stoker::metrics_file_test
