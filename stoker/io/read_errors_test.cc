// What follows where the kernel says that a file cannot be read, or is damaged.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/few_files_testing_internal.h"
#include "stoker/io/file.h"
#include "stoker/io/manifest.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"

// Why no byte is to be had, while it is not 0.
static std::atomic<int> pread_error = 0;

// Takes the C library's place in this program.
extern "C" ssize_t pread(int fd, void* out, size_t bytes, off_t offset) {
  if (pread_error != 0) {
    errno = pread_error;
    return -1;
  }
  return ::syscall(SYS_pread64, fd, out, bytes, offset);
}

namespace stoker::read_errors_test {

namespace fs = std::filesystem;

class FailingReads {
 public:
  explicit FailingReads(int error_number) { pread_error = error_number; }
  ~FailingReads() { pread_error = 0; }
};

TEST(ReadErrors, AFileThatTheFileSystemProvesDamagedIsDamaged) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a", "first"));
  STOKER_ASSERT_OK(Manifest::Write(dir.path().string(), std::vector<std::string_view>{"a"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Manifest manifest, Manifest::Read(dir.path().string()));
  for (const auto& [error_number, code] :
       {std::pair(EBADMSG, StatusCode::kDataLoss), std::pair(EUCLEAN, StatusCode::kDataLoss),
        std::pair(EIO, StatusCode::kUnavailable),
        std::pair(ENOMEM, StatusCode::kResourceExhausted)}) {
    const FailingReads failing(error_number);
    EXPECT_THAT(manifest.Check("a"), FailsWith(code, "/a: byte 0")) << error_number;
    EXPECT_THAT(manifest.ReadFile("a"), FailsWith(code, "/a: byte 0")) << error_number;
  }
  STOKER_EXPECT_OK(manifest.CheckAll());
}

// A cache with a copy of a file, of which nothing is known: each limit is a cache of its own, as in
// another process.
class CopyTest : public testing::Test {
 protected:
  CopyTest() {
    const ScopedRemoteOptions options({.cache = directory_});
    EXPECT_THAT(MappedFile::Open(server_.url("a")), IsOk());
    requests_ = server_.requests();
  }

  Status Open() {
    const ScopedRemoteOptions options({.cache = directory_, .cache_size = 999'999'999});
    return MappedFile::Open(server_.url("a")).status();
  }
  int requests() const { return server_.requests() - requests_; }

  const TempDir dir_;
  const std::string directory_ = dir_ / "cache";
  const std::string content_ = NumberedBytes(500'000);
  const LoopbackServer server_{[this](const LoopbackRequest& request, int) {
    return ServeContent(request, content_, "\"1\"");
  }};
  int requests_ = 0;
};

TEST_F(CopyTest, ThatCannotBeReadIsAnErrorAndStays) {
  {
    const FailingReads failing(EIO);
    EXPECT_THAT(Open(), FailsWith(StatusCode::kUnavailable, "cannot check it"));
  }
  const int asked = requests();
  STOKER_EXPECT_OK(Open());
  EXPECT_LE(requests(), asked + 1) << "its version at most; the copy is still there";
}

}  // namespace stoker::read_errors_test
