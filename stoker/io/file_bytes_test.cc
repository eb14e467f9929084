#include "stoker/io/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "stoker/base/testing.h"
#include "stoker/io/descriptor.h"
#include "stoker/io/file_bytes_testing_internal.h"

namespace stoker::file_bytes_test {

constexpr size_t kBytes = 100'000;  // of several pieces, the last one not full

class FileBytesTest : public testing::Test {
 protected:
  FileBytesTest() {
    for (size_t i = 0; i < kBytes; ++i) content_ += static_cast<char>(i * 7 + i / 251);
    std::ofstream(path_, std::ios::binary) << content_;
  }
  std::string TextOf(const FileBytes& file, uint64_t offset, uint64_t bytes) const {
    return std::string(reinterpret_cast<const char*>(file.bytes().data()) + offset, bytes);
  }

  const TempDir dir_;
  const std::string path_ = dir_ / "x";
  std::string content_;
};

TEST_F(FileBytesTest, HasWhatWasLoadedAndCopiesTheRest) {
  STOKER_ASSERT_OK_AND_ASSIGN(const FileBytes file, FileBytes::Open(path_));
  EXPECT_FALSE(file.present());
  EXPECT_EQ(file.size(), kBytes);
  EXPECT_EQ(file.name(), path_);
  const std::pair<uint64_t, uint64_t> parts[] = {{0, 0},           {0, 1},          {16'383, 2},
                                                 {20'000, 40'000}, {kBytes - 1, 1}, {0, kBytes}};
  for (const auto& [offset, bytes] : parts) {
    std::string copy(bytes, '\0');
    STOKER_ASSERT_OK(file.ReadAt(offset, std::as_writable_bytes(std::span(copy))));
    EXPECT_EQ(copy, content_.substr(offset, bytes)) << offset;
    STOKER_ASSERT_OK(file.Load(offset, bytes));
    EXPECT_EQ(TextOf(file, offset, bytes), content_.substr(offset, bytes)) << offset;
  }
}

TEST_F(FileBytesTest, ViewsAreCopiesThatKeepNothingOrThePlaceItself) {
  const auto account = Ledger::Create(1 << 20)->OpenAccount("test");
  const auto text = [](std::span<const std::byte> view) {
    return std::string(reinterpret_cast<const char*>(view.data()), view.size());
  };
  STOKER_ASSERT_OK_AND_ASSIGN(const FileBytes file, FileBytes::Open(path_));
  {
    Buffer room;
    for (const uint64_t bytes : {50'000u, 10u, 0u}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto view, file.View(40'000, bytes, room, account));
      EXPECT_EQ(text(view), content_.substr(40'000, bytes));
    }
    EXPECT_GE(account->bytes(), 50'000);
  }
  EXPECT_EQ(account->bytes(), 0);
  EXPECT_EQ(TextOf(file, 40'000, 10), std::string(10, '\0')) << "not loaded";
  const ScopedMapping mapping;
  STOKER_ASSERT_OK_AND_ASSIGN(const FileBytes mapped, FileBytes::Open(path_));
  Buffer room;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto view, mapped.View(40'000, 10, room));
  EXPECT_EQ(view.data(), mapped.bytes().data() + 40'000);
  EXPECT_FALSE(room);
}

TEST_F(FileBytesTest, AFileWhoseSizeIsSealedIsMappedUnlessItMayShrink) {
  for (const bool sealed : {true, false}) {
    const Descriptor memory(::memfd_create("stoker-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_TRUE(memory.valid());
    ASSERT_EQ(::write(memory.get(), content_.data(), content_.size()),
              static_cast<ssize_t>(content_.size()));
    const int seals = sealed ? F_SEAL_SHRINK : F_SEAL_GROW;
    ASSERT_EQ(::fcntl(memory.get(), F_ADD_SEALS, seals), 0);
    const std::string path = "/proc/self/fd/" + std::to_string(memory.get());
    STOKER_ASSERT_OK_AND_ASSIGN(const FileBytes file, FileBytes::Open(path));
    EXPECT_EQ(file.present(), sealed);
    EXPECT_EQ(file.name(), path);
    STOKER_ASSERT_OK(file.LoadAll());
    EXPECT_EQ(TextOf(file, 0, kBytes), content_);
  }
}

TEST_F(FileBytesTest, ManyThreadsMayLoadAtOnce) {
  for (int round = 0; round < 20; ++round) {
    STOKER_ASSERT_OK_AND_ASSIGN(const FileBytes file, FileBytes::Open(path_));
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (uint64_t at = t * 1000; at + 30'000 <= kBytes; at += 9'000) {
          EXPECT_THAT(file.Load(at, 30'000), IsOk());
          EXPECT_EQ(TextOf(file, at, 30'000), content_.substr(at, 30'000));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(FileBytesTest, ByPositionAFileThatIsCutShortIsAnErrorAndMappedItIsASignal) {
  STOKER_ASSERT_OK_AND_ASSIGN(const FileBytes file, FileBytes::Open(path_));
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGBUS, SIG_DFL);  // a sanitizer may have a handler
    const ScopedMapping mapping;
    const Result<FileBytes> mapped = FileBytes::Open(path_);
    if (!mapped.ok() || !mapped->present() || !mapped->LoadAll().ok()) ::_exit(1);
    std::filesystem::resize_file(path_, 10);
    volatile const std::byte lost = mapped->bytes()[kBytes - 1];
    static_cast<void>(lost);
    ::_exit(2);
  }
  int result = 0;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFSIGNALED(result) && WTERMSIG(result) == SIGBUS);
  std::byte byte;
  EXPECT_THAT(file.ReadAt(kBytes - 1, {&byte, 1}),
              FailsWith(StatusCode::kDataLoss, path_ + ": byte 99999: 1 bytes wanted"));
  EXPECT_THAT(file.Load(50'000, 10), FailsWith(StatusCode::kDataLoss, path_));
}

TEST_F(FileBytesTest, TakesBytesInMemoryAndEmptyFiles) {
  const FileBytes of = FileBytes::Of(Buffer::Allocate(5), "five");
  EXPECT_TRUE(of.present());
  EXPECT_EQ(of.size(), 5u);
  EXPECT_EQ(of.name(), "five");
  std::ofstream(dir_ / "empty").flush();
  STOKER_ASSERT_OK_AND_ASSIGN(const FileBytes empty, FileBytes::Open(dir_ / "empty"));
  EXPECT_EQ(empty.size(), 0u);
  STOKER_ASSERT_OK(empty.LoadAll());
  EXPECT_THAT(FileBytes::Open(dir_ / "none"), FailsWith(StatusCode::kNotFound, "none"));
}

}  // namespace stoker::file_bytes_test
