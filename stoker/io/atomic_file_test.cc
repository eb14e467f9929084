#include "stoker/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/io/few_files_testing_internal.h"
#include "stoker/io/file.h"
#include "stoker/io/file_names_testing_internal.h"
#include "stoker/io/file_size_limit_testing_internal.h"
#include "stoker/io/temporary.h"

// What is flushed to the disk, by path, while this points somewhere.
static std::vector<std::string>* flushed = nullptr;

// Takes the C library's place in this program.
extern "C" int fsync(int fd) {
  if (flushed != nullptr) {
    flushed->push_back(std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd)));
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace stoker::atomic_file_test {

namespace fs = std::filesystem;

std::string Content(const std::string& path) {
  const Result<std::string> text = ReadTextFile(path);
  EXPECT_THAT(text, IsOk());
  return text.ok() ? *text : "";
}

// Makes a directory unwritable for a while. Root may write anywhere, so it becomes somebody else.
class ReadOnly {
 public:
  explicit ReadOnly(fs::path directory) : directory_(std::move(directory)) {
    ::chmod(directory_.c_str(), 0555);
    if (root_) {
      EXPECT_EQ(::seteuid(65534), 0);
    }
  }
  ~ReadOnly() {
    if (root_) {
      EXPECT_EQ(::seteuid(0), 0);
    }
    ::chmod(directory_.c_str(), 0700);
  }

 private:
  const fs::path directory_;
  const bool root_ = ::geteuid() == 0;
};

TEST(AtomicFileWriter, ShowsTheFileOnlyWhenCommitted) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(AtomicFileWriter writer, AtomicFileWriter::Create(dir / "a"));
  STOKER_ASSERT_OK(writer.Append("one "));
  EXPECT_FALSE(fs::exists(dir / "a"));
  STOKER_ASSERT_OK(writer.Append("two"));
  EXPECT_EQ(writer.size(), 7u);
  STOKER_ASSERT_OK(writer.Commit());
  EXPECT_EQ(Content(dir / "a"), "one two");
  EXPECT_EQ(Names(dir.path()), std::vector<std::string>{"a"});
}

TEST(AtomicFileWriter, KeepsTheOrderOfSmallAndLargePieces) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(AtomicFileWriter writer, AtomicFileWriter::Create(dir / "a"));
  std::string expected;
  for (const size_t size : {1, 100, 65'535, 65'536, 65'537, 0, 3, 300'000, 2}) {
    const std::string piece(size, static_cast<char>('a' + size % 26));
    expected += piece;
    STOKER_ASSERT_OK(writer.Append(piece));
    EXPECT_EQ(writer.size(), expected.size());
  }
  STOKER_ASSERT_OK(writer.Commit());
  EXPECT_TRUE(Content(dir / "a") == expected);
}

TEST(AtomicFileWriter, LeavesNothingBehindWithoutCommit) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a", "old"));
  {
    STOKER_ASSERT_OK_AND_ASSIGN(AtomicFileWriter writer, AtomicFileWriter::Create(dir / "a"));
    STOKER_ASSERT_OK(writer.Append(std::string(100'000, 'x')));
    EXPECT_EQ(Names(dir.path()).size(), 2u);
  }
  EXPECT_EQ(Names(dir.path()), std::vector<std::string>{"a"});
  EXPECT_EQ(Content(dir / "a"), "old");
}

TEST(AtomicFileWriter, CommitsOnce) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(AtomicFileWriter writer, AtomicFileWriter::Create(dir / "a"));
  STOKER_ASSERT_OK(writer.Commit());
  EXPECT_THAT(writer.Commit(),
              FailsWith(StatusCode::kFailedPrecondition, "Commit was called already"));
  EXPECT_THAT(writer.Append("x"),
              FailsWith(StatusCode::kFailedPrecondition, "Commit was called already"));
}

TEST(AtomicFileWriter, SaysOnceMoreWhyItCouldNotCommit) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(AtomicFileWriter writer, AtomicFileWriter::Create(dir / "a"));
  STOKER_ASSERT_OK(writer.Append("content"));
  const FileSizeLimit limit(3);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(writer.Commit(),
                FailsWith(StatusCode::kResourceExhausted, "cannot write: File too large"));
  }
}

TEST(AtomicFileWriter, NeverTakesThePlaceOfADeviceOrAPipe) {
  const TempDir dir;
  ASSERT_EQ(mkfifo((dir / "pipe").c_str(), 0600), 0);
  ASSERT_EQ(symlink("/dev/null", (dir / "link").c_str()), 0);
  for (const std::string& path : {dir / "pipe", dir / "link", std::string("/dev/null"),
                                  std::string("/dev/stdout"), std::string("/dev/../dev/stdout")}) {
    EXPECT_THAT(WriteFileAtomically(path, "x"),
                FailsWith(StatusCode::kInvalidArgument, path + ": is a device or a pipe"));
  }
  EXPECT_TRUE(std::filesystem::is_fifo(dir / "pipe"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(Names(dir.path()), (std::vector<std::string>{"link", "pipe"}));
}

TEST(AtomicFileWriter, MovesWithItsTemporary) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(AtomicFileWriter first, AtomicFileWriter::Create(dir / "a"));
  STOKER_ASSERT_OK(first.Append("kept"));
  {
    AtomicFileWriter second = std::move(first);
    STOKER_ASSERT_OK(second.Commit());
  }
  EXPECT_EQ(Content(dir / "a"), "kept");
}

TEST(WriteFileAtomically, ReplacesAFileAndWorksWithoutADirectoryInItsPath) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a", "old and longer"));
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a", "new"));
  EXPECT_EQ(Content(dir / "a"), "new");
  const fs::path before = fs::current_path();
  fs::current_path(dir.path());
  EXPECT_THAT(WriteFileAtomically("b", ""), IsOk());
  fs::current_path(before);
  EXPECT_EQ(Content(dir / "b"), "");
}

TEST(WriteFileAtomically, NamesThePathAndTheRemedyWhereItCannotWrite) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "file", "x"));
  fs::create_directory(dir / "folder");
  EXPECT_THAT(WriteFileAtomically(dir / "none/a", "x"),
              FailsWith(StatusCode::kNotFound, dir / "none/a: cannot create"));
  EXPECT_THAT(WriteFileAtomically(dir / "none/a", "x"),
              FailsWith(StatusCode::kNotFound, "make its directory first"));
  EXPECT_THAT(WriteFileAtomically(dir / "file/a", "x"),
              FailsWith(StatusCode::kNotFound, "a part of the path is a file"));
  EXPECT_THAT(WriteFileAtomically(dir / "folder", "x"),
              FailsWith(StatusCode::kFailedPrecondition, "is a directory"));
  EXPECT_THAT(WriteFileAtomically("", "x"),
              FailsWith(StatusCode::kInvalidArgument, "names no file"));
  EXPECT_THAT(WriteFileAtomically("/", "x"),
              FailsWith(StatusCode::kInvalidArgument, "names no file"));
  EXPECT_EQ(Names(dir.path()), (std::vector<std::string>{"file", "folder"}));
}

TEST(WriteFileAtomically, KeepsTheOldFileInAReadOnlyDirectory) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a", "old"));
  Status status;
  {
    const ReadOnly read_only(dir.path());
    status = WriteFileAtomically(dir / "a", "new");
  }
  EXPECT_THAT(status, FailsWith(StatusCode::kPermissionDenied,
                                "allow writing to its directory or choose another"));
  EXPECT_EQ(Content(dir / "a"), "old");
}

TEST(WriteFileAtomically, KeepsTheOldFileWhereTheNewOneDoesNotFit) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a", "old"));
  const std::string large(300'000, 'x');
  Status status;
  {
    const FileSizeLimit limit(100'000);
    status = WriteFileAtomically(dir / "a", large);
  }
  EXPECT_THAT(status, FailsWith(StatusCode::kResourceExhausted,
                                "/a: byte 100000: cannot write: File too large"));
  EXPECT_EQ(Content(dir / "a"), "old");
  EXPECT_EQ(Names(dir.path()), std::vector<std::string>{"a"});
}

TEST(WriteAll, SaysWhatToDoAboutAFullDisk) {
  const Descriptor full(::open("/dev/full", O_WRONLY));
  ASSERT_TRUE(full.valid());
  const std::string text = "x";
  EXPECT_THAT(internal::WriteAll(full.get(), std::as_bytes(std::span(text)), "run/weights", 4096),
              FailsWith(StatusCode::kResourceExhausted,
                        "run/weights: byte 4096: cannot write: No space left on device; "
                        "free space on that file system or write elsewhere"));
}

TEST(AtomicDirectory, AppearsWholeWithAllItsFiles) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(AtomicDirectory made, AtomicDirectory::Create(dir / "step-10/"));
  STOKER_ASSERT_OK(WriteFileAtomically(made.path() + "/a", "1"));
  fs::create_directory(made.path() + "/sub");
  STOKER_ASSERT_OK(WriteFileAtomically(made.path() + "/sub/b", "2"));
  EXPECT_FALSE(fs::exists(dir / "step-10"));
  STOKER_ASSERT_OK(made.Commit());
  EXPECT_EQ(Names(dir.path()), std::vector<std::string>{"step-10"});
  EXPECT_EQ(Content(dir / "step-10/a"), "1");
  EXPECT_EQ(Content(dir / "step-10/sub/b"), "2");
}

TEST(AtomicDirectory, LeavesNothingBehindWithoutCommit) {
  const TempDir dir;
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const AtomicDirectory made, AtomicDirectory::Create(dir / "d"));
    STOKER_ASSERT_OK(WriteFileAtomically(made.path() + "/a", "1"));
  }
  EXPECT_TRUE(Names(dir.path()).empty());
}

TEST(AtomicDirectory, NeverReplacesWhatIsThere) {
  const TempDir dir;
  fs::create_directory(dir / "d");
  STOKER_EXPECT_OK(AtomicDirectory::Create(dir / "d"))
      << "an empty directory holds nothing to lose";
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "d/a", "keep"));
  EXPECT_THAT(AtomicDirectory::Create(dir / "d"),
              FailsWith(StatusCode::kFailedPrecondition, "/d: already exists"));
  EXPECT_THAT(AtomicDirectory::Create(dir / "d/a"),
              FailsWith(StatusCode::kFailedPrecondition, "already exists"));
  STOKER_ASSERT_OK_AND_ASSIGN(AtomicDirectory late, AtomicDirectory::Create(dir / "e"));
  fs::create_directory(dir / "e");
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "e/b", "keep"));
  EXPECT_THAT(late.Commit(), FailsWith(StatusCode::kFailedPrecondition,
                                       "remove what is there or choose another name"));
  EXPECT_EQ(Content(dir / "e/b"), "keep");
}

TEST(AtomicDirectory, InPlaceOfAnotherLeavesThatWholeUntilItIsWholeItself) {
  const TempDir dir;
  for (const bool there : {false, true}) {
    STOKER_ASSERT_OK_AND_ASSIGN(AtomicDirectory made, AtomicDirectory::CreateInPlaceOf(dir / "d"));
    STOKER_ASSERT_OK(WriteFileAtomically(made.path() + "/a", there ? "new" : "old"));
    EXPECT_EQ(fs::exists(dir / "d/a"), there);
    STOKER_ASSERT_OK(made.Commit());
    EXPECT_EQ(Content(dir / "d/a"), there ? "new" : "old");
  }
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const AtomicDirectory made,
                                AtomicDirectory::CreateInPlaceOf(dir / "d"));
    STOKER_ASSERT_OK(WriteFileAtomically(made.path() + "/a", "lost"));
  }
  EXPECT_EQ(Content(dir / "d/a"), "new");
  EXPECT_EQ(Names(dir.path()), std::vector<std::string>{"d"});
}

// What is looked at in the middle of two hundred replacements is always one of them, whole.
TEST(AtomicDirectory, InPlaceOfAnotherTheNameIsAlwaysThere) {
  const TempDir dir;
  const auto put = [&](int number) -> Status {
    STOKER_ASSIGN_OR_RETURN(AtomicDirectory made, AtomicDirectory::CreateInPlaceOf(dir / "d"));
    STOKER_RETURN_IF_ERROR(WriteFileAtomically(made.path() + "/a", std::to_string(number)));
    return made.Commit();
  };
  STOKER_ASSERT_OK(put(0));
  std::atomic<bool> done = false;
  int missed = 0;
  std::jthread looking([&] {
    while (!done) missed += fs::exists(dir / "d") ? 0 : 1;
  });
  for (int i = 1; i <= 200; ++i) STOKER_EXPECT_OK(put(i));
  done = true;
  looking.join();
  EXPECT_EQ(missed, 0);
  EXPECT_EQ(Content(dir / "d/a"), "200");
  EXPECT_EQ(Names(dir.path()), std::vector<std::string>{"d"});
}

TEST(AtomicDirectory, SaysWhyItCannotBegin) {
  const TempDir dir;
  EXPECT_THAT(AtomicDirectory::Create(dir / "no/d"),
              FailsWith(StatusCode::kNotFound, "make its directory first"));
  Status status;
  {
    const ReadOnly read_only(dir.path());
    status = AtomicDirectory::Create(dir / "d").status();
  }
  EXPECT_THAT(status, FailsWith(StatusCode::kPermissionDenied, "/d: cannot create"));
}

TEST(AtomicFileWriter, GivesNoNameWhereTheDirectoryCannotBeOpenedToFlushIt) {
  const TempDir dir;
  {
    STOKER_ASSERT_OK_AND_ASSIGN(AtomicFileWriter writer, AtomicFileWriter::Create(dir / "a"));
    STOKER_ASSERT_OK(writer.Append("text"));
    Status committed;
    bool named = true;
    {
      // Only what is tested: a sanitizer that checks types opens pipes.
      const NoMoreFiles none;
      committed = writer.Commit();
      named = fs::exists(dir / "a");
    }
    EXPECT_THAT(committed, FailsWith(StatusCode::kResourceExhausted,
                                     "cannot open to flush it to the disk: Too many"));
    EXPECT_FALSE(named);
  }
  EXPECT_TRUE(Names(dir.path()).empty());
}

class RecordFlushes {
 public:
  RecordFlushes() { flushed = &paths; }
  ~RecordFlushes() { flushed = nullptr; }
  std::vector<std::string> paths;
};

TEST(AtomicFileWriter, FlushesTheContentThenTheDirectoryThatHoldsTheName) {
  const TempDir dir;
  const RecordFlushes record;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a", "text"));
  ASSERT_EQ(record.paths.size(), 2u);
  EXPECT_THAT(record.paths[0], testing::StartsWith(dir / ".a.tmp-"));
  EXPECT_EQ(record.paths[1], dir.path());
}

TEST(CreateDirectories, FlushesTheDirectoryThatHoldsEachNewOne) {
  const TempDir dir;
  fs::create_directory(dir / "old");
  const RecordFlushes record;
  STOKER_ASSERT_OK(CreateDirectories(dir / "old/a/b/c/"));
  EXPECT_TRUE(fs::is_directory(dir / "old/a/b/c"));
  EXPECT_THAT(record.paths, testing::ElementsAre(dir / "old", dir / "old/a", dir / "old/a/b"));
}

TEST(CreateDirectories, HasNothingToDoWhereAllAreThere) {
  const TempDir dir;
  fs::create_directory_symlink(dir.path(), dir / "link");
  const RecordFlushes record;
  STOKER_ASSERT_OK(CreateDirectories(dir.path().string()));
  STOKER_ASSERT_OK(CreateDirectories(dir / "link"));
  STOKER_ASSERT_OK(CreateDirectories("."));
  EXPECT_TRUE(record.paths.empty());
}

TEST(CreateDirectories, SaysWhatIsInTheWay) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "file", ""));
  EXPECT_THAT(CreateDirectories(dir / "file"), FailsWith(StatusCode::kNotFound, "check the path"));
  EXPECT_THAT(CreateDirectories(dir / "file/a"),
              FailsWith(StatusCode::kNotFound, "cannot make the directory " + (dir / "file")));
  EXPECT_THAT(CreateDirectories(""), FailsWith(StatusCode::kInvalidArgument, "is empty"));
}

TEST(RemoveAtomically, TakesAFileOrADirectoryAwayWithAllThatIsInIt) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "file", "x"));
  std::filesystem::create_directories(dir / "step-1/deep");
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "step-1/deep/a", "x"));
  STOKER_EXPECT_OK(RemoveAtomically(dir / "file"));
  STOKER_EXPECT_OK(RemoveAtomically(dir / "step-1"));
  EXPECT_TRUE(Names(dir.path()).empty());
  EXPECT_THAT(RemoveAtomically(dir / "file"), FailsWith(StatusCode::kNotFound, "/file"));
}

}  // namespace stoker::atomic_file_test
