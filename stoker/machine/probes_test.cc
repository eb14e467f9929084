// What the probes promise whatever the machine's speed: figures that are there, and nothing left.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>

#include "stoker/base/stop_scope.h"
#include "stoker/base/testing.h"
#include "stoker/image/decode.h"
#include "stoker/machine/copy_probe.h"
#include "stoker/machine/decode_probe.h"
#include "stoker/machine/gpu.h"
#include "stoker/machine/memory_probe.h"
#include "stoker/machine/storage_probe.h"

namespace stoker::probes_test {

using testing::HasSubstr;

int64_t EntriesIn(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder),
                       std::filesystem::directory_iterator());
}

constexpr StorageProbe kShort{.seconds = 0.5, .file_bytes = int64_t{16} << 20, .small_files = 20};

TEST(MeasureStorage, MeasuresAFolderAndLeavesNothing) {
  const TempDir folder;
  STOKER_ASSERT_OK_AND_ASSIGN(const StorageRoofs roofs, MeasureStorage(folder.path(), kShort));
  EXPECT_EQ(roofs.path, std::filesystem::canonical(folder.path()).string());
  EXPECT_GT(roofs.write_bytes_per_s.value_or(0), 0);
  EXPECT_GT(roofs.small_files_per_s.value_or(0), 0);
  EXPECT_GT(roofs.small_files_together_per_s.value_or(0), 0);
  EXPECT_EQ(roofs.read_bytes_per_s.has_value(), roofs.problem.empty()) << roofs.problem;
  EXPECT_EQ(EntriesIn(folder.path()), 0);
}

TEST(MeasureStorage, OnlyReadsAFile) {
  const TempDir folder;
  const std::string path = folder / "large";
  std::ofstream(path) << std::string(size_t{17} << 20, 'x');
  STOKER_ASSERT_OK_AND_ASSIGN(const StorageRoofs roofs, MeasureStorage(path, kShort));
  EXPECT_GT(roofs.read_bytes_per_s.value_or(0), 0);
  EXPECT_GT(roofs.random_reads_per_s.value_or(0), 0);
  EXPECT_GT(roofs.random_bytes_per_s.value_or(0), 0);
  EXPECT_THAT(roofs.how, testing::AnyOf("O_DIRECT", "posix_fadvise"));
  EXPECT_FALSE(roofs.write_bytes_per_s.has_value());
  EXPECT_FALSE(roofs.small_files_per_s.has_value());
  EXPECT_EQ(roofs.problem, "");
  EXPECT_EQ(EntriesIn(folder.path()), 1);
}

TEST(MeasureStorage, SaysThatAFileIsTooSmall) {
  const TempDir folder;
  std::ofstream(folder / "small") << "x";
  STOKER_ASSERT_OK_AND_ASSIGN(const StorageRoofs roofs, MeasureStorage(folder / "small", kShort));
  EXPECT_THAT(roofs.problem, HasSubstr("the file has 1 bytes"));
  EXPECT_FALSE(roofs.read_bytes_per_s.has_value());
}

TEST(MeasureStorage, RefusesWhatIsNotThereAndWhatIsNoFile) {
  EXPECT_THAT(MeasureStorage("/nowhere/at/all", kShort),
              FailsWith(StatusCode::kNotFound, "/nowhere/at/all"));
  EXPECT_THAT(MeasureStorage("/dev/null", kShort),
              FailsWith(StatusCode::kInvalidArgument, "/dev/null"));
}

TEST(MeasureStorage, LeavesNothingWhenItIsStopped) {
  const TempDir folder;
  std::atomic<int> asked = 0;  // by several threads
  // Later and later, so that every part is stopped once.
  for (const int after : {0, 3, 17, 40}) {
    const StopScope scope([&] { return ++asked > after; });
    const Result<StorageRoofs> roofs = MeasureStorage(folder.path(), kShort);
    if (!roofs.ok()) {
      EXPECT_THAT(roofs, FailsWith(StatusCode::kCancelled, "stopped"));
    }
    EXPECT_EQ(EntriesIn(folder.path()), 0) << after;
    asked = 0;
  }
}

TEST(MeasureStorage, RemovesWhatAKilledProcessLeftAndNothingElse) {
  const TempDir folder;
  // Its process number is that of no process.
  std::filesystem::create_directory(folder.path() / ".stoker-env.tmp-4194305-00000000");
  std::filesystem::create_directory(folder.path() / ".other.tmp-4194305-00000000");
  STOKER_EXPECT_OK(MeasureStorage(folder.path(), kShort));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / ".stoker-env.tmp-4194305-00000000"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / ".other.tmp-4194305-00000000"));
}

TEST(MeasureMemory, GivesThreeRates) {
  for (const int threads : {1, 3}) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        const MemoryRoofs roofs,
        MeasureMemory({.seconds = 0.01, .threads = threads, .bytes = int64_t{8} << 20}));
    EXPECT_GT(roofs.read_bytes_per_s, 0);
    EXPECT_GT(roofs.write_bytes_per_s, 0);
    EXPECT_GT(roofs.copy_bytes_per_s, 0);
  }
}

TEST(MakePhotograph, IsAJpegOfTheSizeOfAPhotographAndAlwaysTheSame) {
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string file, MakePhotograph());
  STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo info,
                              ProbeImage(std::as_bytes(std::span(file)), "photograph"));
  EXPECT_EQ(info.format, ImageFormat::kJpeg);
  EXPECT_EQ(info.width, 500);
  EXPECT_EQ(info.height, 375);
  EXPECT_GT(file.size(), 40'000u);
  EXPECT_LT(file.size(), 150'000u);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string again, MakePhotograph());
  EXPECT_EQ(file, again);
}

TEST(MeasureDecoding, GivesARate) {
  STOKER_ASSERT_OK_AND_ASSIGN(const DecodeRoofs roofs, MeasureDecoding(0.01, 2));
  EXPECT_GT(roofs.pictures_per_s, 0);
}

TEST(ReadGpus, SaysInALineThatThereIsNoLibrary) {
  const Gpus found = ReadGpus("libnone-of-this-name.so.1");
  EXPECT_TRUE(found.gpus.empty());
  EXPECT_THAT(found.none, HasSubstr("no NVML: libnone-of-this-name.so.1"));
  EXPECT_THAT(ReadGpus("libc.so.6").none, HasSubstr("libc.so.6 has no nvmlInit_v2"));
}

TEST(MeasureCopies, SaysInALineThatThereIsNoLibrary) {
  EXPECT_THAT(MeasureCopies(0.1, "libnone-of-this-name.so.1"),
              FailsWith(StatusCode::kUnavailable, "libnone-of-this-name.so.1"));
  EXPECT_THAT(MeasureCopies(0.1, "libc.so.6"),
              FailsWith(StatusCode::kUnavailable, "libc.so.6 has no cuInit"));
}

}  // namespace stoker::probes_test
