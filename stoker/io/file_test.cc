#include "stoker/io/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "stoker/base/testing.h"
#include "stoker/io/file_bytes.h"

namespace stoker::file_test {

void Put(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string_view Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(File, ReadsAnyRangeByPosition) {
  const TempDir dir;
  Put(dir / "a", "0123456789");
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(dir / "a"));
  EXPECT_EQ(file.size(), 10u);
  std::array<std::byte, 4> out;
  STOKER_ASSERT_OK(file.ReadAt(6, out));
  EXPECT_EQ(Text(out), "6789");
  STOKER_ASSERT_OK(file.ReadAt(0, out));
  EXPECT_EQ(Text(out), "0123");
  STOKER_ASSERT_OK(file.ReadAt(10, {}));
}

TEST(File, SaysWhereAndHowManyBytesAreMissing) {
  const TempDir dir;
  Put(dir / "a", "0123456789");
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(dir / "a"));
  std::array<std::byte, 4> out;
  EXPECT_THAT(file.ReadAt(8, out),
              FailsWith(StatusCode::kDataLoss, "/a: byte 8: 4 bytes wanted, the file has 2"));
  EXPECT_THAT(file.ReadAt(uint64_t{1} << 40, out),
              FailsWith(StatusCode::kDataLoss, "4 bytes wanted, the file has 0"));
  STOKER_ASSERT_OK_AND_ASSIGN(const size_t got, file.ReadUpTo(8, out));
  EXPECT_EQ(got, 2u);
}

TEST(File, MovesWithItsDescriptor) {
  const TempDir dir;
  Put(dir / "a", "xy");
  STOKER_ASSERT_OK_AND_ASSIGN(File first, File::Open(dir / "a"));
  STOKER_ASSERT_OK_AND_ASSIGN(File second, File::Open(dir / "a"));
  second = std::move(first);
  std::array<std::byte, 2> out;
  STOKER_EXPECT_OK(second.ReadAt(0, out));
}

TEST(File, NamesTheFirstDirectoryThatIsMissing) {
  const TempDir dir;
  EXPECT_THAT(File::Open(dir / "no/such/file"),
              FailsWith(StatusCode::kNotFound, "there is no directory " + dir / "no;"));
}

TEST(File, NamesTheFileThatStandsInADirectorysPlace) {
  const TempDir dir;
  Put(dir / "a", "");
  EXPECT_THAT(File::Open(dir / "a/b"),
              FailsWith(StatusCode::kNotFound, dir / "a is a file, not a directory"));
}

TEST(File, PointsToTheCompressedOrPlainFileBesideTheOneThatIsMissing) {
  const TempDir dir;
  Put(dir / "images.gz", "");
  Put(dir / "labels", "");
  EXPECT_THAT(File::Open(dir / "images"),
              FailsWith(StatusCode::kNotFound, "there is images.gz beside it"));
  EXPECT_THAT(File::Open(dir / "labels.gz"),
              FailsWith(StatusCode::kNotFound, "there is labels beside it"));
  EXPECT_THAT(File::Open(dir / "other"), FailsWith(StatusCode::kNotFound, "check the name"));
}

TEST(File, RefusesAPathWithAZeroByteInsteadOfOpeningWhatThePartBeforeItNames) {
  const TempDir dir;
  std::ofstream(dir / "a") << "text";
  const std::string path = dir / "a" + std::string("\0.bin", 5);
  EXPECT_THAT(File::Open(path), FailsWith(StatusCode::kInvalidArgument, "there is a zero byte"));
  EXPECT_THAT(FileBytes::Open(path),
              FailsWith(StatusCode::kInvalidArgument, "there is a zero byte"));
}

TEST(File, RefusesWhatHasNoBytesByPosition) {
  const TempDir dir;
  EXPECT_THAT(File::Open(dir.path().string()),
              FailsWith(StatusCode::kInvalidArgument, "is a directory"));
  EXPECT_THAT(File::Open(""), FailsWith(StatusCode::kInvalidArgument, "empty"));
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(File::Open(dir / "pipe"), FailsWith(StatusCode::kUnimplemented, "is a pipe"));
}

TEST(File, SaysThatAccessIsRefused) {
  const TempDir dir;
  Put(dir / "a", "secret");
  ASSERT_EQ(::chmod((dir / "a").c_str(), 0), 0);
  // Root may read everything, so it becomes somebody else for a moment.
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const Status status = File::Open(dir / "a").status();
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_THAT(status, FailsWith(StatusCode::kPermissionDenied, "check the permissions"));
}

TEST(ReadWholeFile, GivesEveryByteAndChargesThemToTheAccount) {
  const TempDir dir;
  const std::string text(100'000, 'x');
  Put(dir / "a", text);
  const auto account = Ledger::Create(1 << 30)->OpenAccount("test");
  STOKER_ASSERT_OK_AND_ASSIGN(const Buffer buffer,
                              ReadWholeFile(dir / "a", kDefaultReadLimit, account));
  EXPECT_EQ(Text({buffer.data(), buffer.size()}), text);
  EXPECT_GE(account->bytes(), 100'000);
}

TEST(ReadWholeFile, OfAnEmptyFileIsNothing) {
  const TempDir dir;
  Put(dir / "a", "");
  STOKER_ASSERT_OK_AND_ASSIGN(const Buffer buffer, ReadWholeFile(dir / "a"));
  EXPECT_EQ(buffer.size(), 0u);
}

TEST(ReadWholeFile, RefusesMoreThanItsLimitBeforeReading) {
  const TempDir dir;
  Put(dir / "a", "");
  std::filesystem::resize_file(dir / "a", uint64_t{1} << 40);  // sparse: takes no space
  EXPECT_THAT(ReadWholeFile(dir / "a"),
              FailsWith(StatusCode::kResourceExhausted, "the file has 1099511627776 bytes"));
  std::filesystem::resize_file(dir / "a", 11);
  EXPECT_THAT(ReadWholeFile(dir / "a", 10),
              FailsWith(StatusCode::kResourceExhausted, "at most 10"));
  STOKER_EXPECT_OK(ReadWholeFile(dir / "a", 11));
}

TEST(ReadTextFile, ReadsFilesAndPipesToTheirEnd) {
  const TempDir dir;
  const std::string text(150'000, 'y');
  Put(dir / "a", text);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string from_file, ReadTextFile(dir / "a"));
  EXPECT_EQ(from_file, text);
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { Put(dir / "pipe", text); });
  const Result<std::string> from_pipe = ReadTextFile(dir / "pipe");
  writer.join();
  STOKER_ASSERT_OK(from_pipe);
  EXPECT_EQ(*from_pipe, text);
}

TEST(ReadTextFile, RefusesMoreThanItsLimitAndWhatIsNoFile) {
  const TempDir dir;
  Put(dir / "a", "12345");
  EXPECT_THAT(ReadTextFile(dir / "a", 4),
              FailsWith(StatusCode::kResourceExhausted, "longer than 4 bytes"));
  STOKER_EXPECT_OK(ReadTextFile(dir / "a", 5));
  EXPECT_THAT(ReadTextFile("/dev/zero", 1000),
              FailsWith(StatusCode::kResourceExhausted, "longer than 1000 bytes"));
  EXPECT_THAT(ReadTextFile(dir.path().string()),
              FailsWith(StatusCode::kInvalidArgument, "is a directory"));
  EXPECT_THAT(ReadTextFile(dir / "b"), FailsWith(StatusCode::kNotFound, "no such file"));
}

class MappedFileAdvice : public testing::TestWithParam<MapAdvice> {};

TEST_P(MappedFileAdvice, ShowsTheFileWhateverTheAdvice) {
  const TempDir dir;
  const std::string text(10'000, 'z');
  Put(dir / "a", text);
  STOKER_ASSERT_OK_AND_ASSIGN(const MappedFile file, MappedFile::Open(dir / "a", GetParam()));
  EXPECT_EQ(Text(file.bytes()), text);
}

std::string NameOfAdvice(const testing::TestParamInfo<MapAdvice>& of) {
  constexpr const char* kNames[] = {"Normal", "Sequential", "Random", "WillNeed"};
  return kNames[static_cast<size_t>(of.param)];
}

INSTANTIATE_TEST_SUITE_P(All, MappedFileAdvice,
                         testing::Values(MapAdvice::kNormal, MapAdvice::kSequential,
                                         MapAdvice::kRandom, MapAdvice::kWillNeed),
                         NameOfAdvice);

TEST(MappedFile, OfAnEmptyFileIsEmpty) {
  const TempDir dir;
  Put(dir / "a", "");
  STOKER_ASSERT_OK_AND_ASSIGN(const MappedFile file, MappedFile::Open(dir / "a"));
  EXPECT_TRUE(file.bytes().empty());
}

TEST(MappedFile, LivesAsLongAsABufferOfIt) {
  const TempDir dir;
  Put(dir / "a", "still here");
  Buffer buffer;
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const MappedFile file, MappedFile::Open(dir / "a"));
    buffer = file.buffer();
  }
  std::filesystem::remove(dir / "a");
  EXPECT_EQ(Text({buffer.data(), buffer.size()}), "still here");
}

TEST(MappedFile, WritingToItsMemoryLeavesTheFileAlone) {
  const TempDir dir;
  Put(dir / "a", "original");
  STOKER_ASSERT_OK_AND_ASSIGN(const MappedFile file, MappedFile::Open(dir / "a"));
  std::memcpy(file.buffer().data(), "changed!", 8);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string text, ReadTextFile(dir / "a"));
  EXPECT_EQ(text, "original");
}

TEST(MappedFile, FailsAsOpeningDoes) {
  const TempDir dir;
  EXPECT_THAT(MappedFile::Open(dir / "a"), FailsWith(StatusCode::kNotFound, "no such file"));
}

}  // namespace stoker::file_test
