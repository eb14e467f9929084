#include "stoker/io/remote/shard_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "stoker/base/mutex.h"
#include "stoker/base/testing.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"
#include "stoker/io/remote/remote_file.h"

// Why no lock is to be had, while it is not 0.
static std::atomic<int> flock_error = 0;

// Takes the C library's place in this program.
extern "C" int flock(int fd, int operation) {
  if (flock_error != 0) {
    errno = flock_error;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_flock, fd, operation));
}

// Of a file that cannot be removed, while it is not empty: part of its path.
static std::string kept_by_others;

// Likewise.
extern "C" int unlink(const char* path) noexcept {
  if (!kept_by_others.empty() && std::strstr(path, kept_by_others.c_str()) != nullptr) {
    errno = EPERM;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

namespace stoker::shard_cache_test {

namespace fs = std::filesystem;

// The files of the directory that are copies, with their sizes.
std::map<std::string, uint64_t> CopiesIn(const std::string& directory) {
  std::map<std::string, uint64_t> copies;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    if (entry.is_regular_file() && !name.starts_with('.') && !name.ends_with(".check"))
      copies[name] = entry.file_size();
  }
  return copies;
}

// What the files were called of which these are copies.
std::string NamesOfCopiesIn(const std::string& directory) {
  constexpr size_t kHash = 25;  // with the dash before it
  std::string names;
  for (const auto& [name, bytes] : CopiesIn(directory))
    names += name.substr(0, name.size() - kHash) + " ";
  return names;
}

std::set<std::string> HiddenNamesIn(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    if (name.starts_with('.')) names.insert(name);
  }
  return names;
}

// The answers of a server that knows nothing of versions.
LoopbackAnswer WithoutVersion(LoopbackAnswer answer) {
  std::erase_if(answer.headers, [](const std::string& line) { return line.starts_with("ETag"); });
  return answer;
}

std::string ReadLocally(const std::string& url) {
  const Result<MappedFile> file = MappedFile::Open(url);
  if (!file.ok()) return file.status().ToString();
  return {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()};
}

std::string ReadInOrder(const std::string& url) {
  const auto source = OpenByteSource(url);
  if (!source.ok()) return source.status().ToString();
  std::string all(4 << 20, '\0');
  const Result<size_t> got = (*source)->ReadFully(std::as_writable_bytes(std::span(all)));
  if (!got.ok()) return got.status().ToString();
  all.resize(*got);
  return all;
}

class ShardCacheTest : public ::testing::Test {
 protected:
  LoopbackAnswer Serve(const LoopbackRequest& request) {
    const std::string tag = "\"" + request.target + "\"";
    return ServeContent(request, content_, tag);
  }

  const TempDir dir_;
  const std::string directory_ = dir_ / "cache";
  std::string content_ = NumberedBytes(500'000);
  const LoopbackServer server_{[this](const LoopbackRequest& r, int) { return Serve(r); }};
};

TEST_F(ShardCacheTest, WhatIsMappedIsFetchedOnce) {
  const ScopedRemoteOptions options({.cache = directory_});
  EXPECT_TRUE(ReadLocally(server_.url("once")) == content_);
  const int requests = server_.requests();
  EXPECT_TRUE(ReadLocally(server_.url("once")) == content_);
  EXPECT_EQ(server_.requests(), requests);
  EXPECT_EQ(CopiesIn(directory_).size(), 1u);
}

TEST_F(ShardCacheTest, ReadingInOrderKeepsACopyOfAWholeFileAlone) {
  const ScopedRemoteOptions options({.cache = directory_});
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenByteSource(server_.url("stream")));
    std::byte first;
    STOKER_ASSERT_OK(source->Read({&first, 1}).status());
  }
  EXPECT_TRUE(CopiesIn(directory_).empty());
  EXPECT_TRUE(ReadInOrder(server_.url("stream")) == content_);
  EXPECT_EQ(CopiesIn(directory_).size(), 1u);
  const int requests = server_.requests();
  EXPECT_TRUE(ReadInOrder(server_.url("stream")) == content_);
  EXPECT_EQ(server_.requests(), requests);
}

TEST_F(ShardCacheTest, ADamagedCopyIsNoticedAndFetchedAgain) {
  for (const bool cut : {false, true}) {
    const std::string url = server_.url(cut ? "cut" : "flipped");
    {
      const ScopedRemoteOptions options({.cache = directory_});
      EXPECT_TRUE(ReadLocally(url) == content_);
    }
    for (const auto& [name, bytes] : CopiesIn(directory_)) {
      const std::string path = directory_ + "/" + name;
      if (cut) {
        fs::resize_file(path, bytes - 1);
      } else {
        std::fstream(path, std::ios::in | std::ios::out).seekp(1000).put('!');
      }
    }
    // Each directory and limit is a cache of its own, as in another process: nothing is known of
    // its copies.
    const ScopedRemoteOptions options({.cache = directory_, .cache_size = 1'000'000'000 + cut});
    const int requests = server_.requests();
    EXPECT_TRUE(ReadLocally(url) == content_);
    EXPECT_GT(server_.requests(), requests);
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
}

TEST_F(ShardCacheTest, WhatWasUsedLongestAgoGoesFirstAndWhatIsOpenStays) {
  const ScopedRemoteOptions options({.cache = directory_, .cache_size = 1'600'000});
  STOKER_ASSERT_OK_AND_ASSIGN(const File held, File::OpenLocally(server_.url("held")));
  for (const char* name : {"one", "two"}) EXPECT_TRUE(ReadLocally(server_.url(name)) == content_);
  EXPECT_TRUE(ReadLocally(server_.url("one")) == content_);  // used later than two
  EXPECT_TRUE(ReadLocally(server_.url("three")) == content_);
  EXPECT_EQ(NamesOfCopiesIn(directory_), "held one three ");
}

TEST_F(ShardCacheTest, WhatDoesNotFitIsAnErrorThatSaysWhatToDo) {
  const ScopedRemoteOptions options({.cache = directory_, .cache_size = 600'000});
  EXPECT_THAT(ReadLocally(server_.url("held")), ::testing::Eq(content_));
  STOKER_ASSERT_OK_AND_ASSIGN(const File held, File::OpenLocally(server_.url("held")));
  EXPECT_THAT(File::OpenLocally(server_.url("other")),
              FailsWith(StatusCode::kResourceExhausted, "may hold 600kB and has 500000 in use"));
  // Who only reads in order does without a copy.
  EXPECT_TRUE(ReadInOrder(server_.url("other")) == content_);
}

TEST_F(ShardCacheTest, WhatLiesInTheDirectoryAndIsNoCopyIsNeitherRemovedNorCounted) {
  const ScopedRemoteOptions options({.cache = directory_, .cache_size = 1'100'000});
  fs::create_directories(directory_);
  const std::string hash = "-0123456789abcdef01234567";
  // 4194305 is above the largest process number that Linux gives (2^22).
  const std::vector<std::string> foreign = {"my-own-dataset.tar",
                                            "no-check" + hash,
                                            "other-check" + hash,
                                            "other-check" + hash + ".check",
                                            "a.tar.check",
                                            "short-0123456789abcdef",
                                            ".hidden",
                                            ".mine.tmp-4194305-0123abcd",
                                            "folder" + hash};
  for (const std::string& name : foreign) {
    if (name.starts_with("folder")) {
      fs::create_directory(directory_ + "/" + name);
    } else {
      std::ofstream(directory_ + "/" + name) << R"({"bytes": 1})";
    }
  }
  fs::resize_file(directory_ + "/my-own-dataset.tar", 5'000'000);
  fs::resize_file(directory_ + "/.hidden", 5'000'000);
  for (const char* name : {"one", "two", "three"}) {
    EXPECT_TRUE(ReadInOrder(server_.url(name)) == content_);
    EXPECT_TRUE(ReadLocally(server_.url(std::string(name) + "-mapped")) == content_);
  }
  for (const std::string& name : foreign) {
    EXPECT_TRUE(fs::exists(directory_ + "/" + name)) << name;
    fs::remove(directory_ + "/" + name);
  }
  EXPECT_EQ(NamesOfCopiesIn(directory_), "three three-mapped ");
}

TEST_F(ShardCacheTest, ACopyInTheMakingThatADeadProcessLeftGoes) {
  const ScopedRemoteOptions options({.cache = directory_, .cache_size = 600'000});
  fs::create_directories(directory_);
  const std::string name = directory_ + "/.a-0123456789abcdef01234567";
  for (const char* kind : {".tmp-4194305-0123abcd", ".check.tmp-4194305-0123abcd"}) {
    std::ofstream(name + kind) << "x";
    fs::resize_file(name + kind, 400'000);
  }
  EXPECT_TRUE(ReadLocally(server_.url("b")) == content_);
  EXPECT_EQ(CopiesIn(directory_).size(), 1u);
  EXPECT_EQ(HiddenNamesIn(directory_), std::set<std::string>({".lock"}));
}

TEST_F(ShardCacheTest, WhatCannotFitEvictsNothingAndLeavesNothing) {
  const ScopedRemoteOptions options({.cache = directory_, .cache_size = 1'100'000});
  const std::string large = NumberedBytes(1'200'000);
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    if (request.target == "/known") return ServeContent(request, large);
    return LoopbackAnswer{.headers = {"Transfer-Encoding: chunked", "ETag: \"1\""},
                          .body = fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", large.size(), large)};
  });
  EXPECT_TRUE(ReadLocally(server_.url("one")) == content_);
  EXPECT_THAT(File::OpenLocally(server.url("known")),
              FailsWith(StatusCode::kResourceExhausted, "may hold 1100kB and has 0 in use"));
  EXPECT_TRUE(ReadInOrder(server.url("known")) == large);
  EXPECT_EQ(NamesOfCopiesIn(directory_), "one ");
  EXPECT_EQ(HiddenNamesIn(directory_), std::set<std::string>({".lock"}));
  // How large it is turns out as it comes: what goes for its first pieces has gone.
  EXPECT_THAT(File::OpenLocally(server.url("unknown")),
              FailsWith(StatusCode::kResourceExhausted, "may hold 1100kB"));
  EXPECT_EQ(HiddenNamesIn(directory_), std::set<std::string>({".lock"}));
}

TEST_F(ShardCacheTest, AFileThatAListKnowsHasTheSameCopy) {
  const LoopbackServer server([&](const LoopbackRequest& request, int) {
    LoopbackAnswer answer = ServeContent(request, content_);
    answer.headers.emplace_back("Last-Modified: Sun, 22 Nov 2026 08:00:00 GMT");
    return answer;
  });
  {
    const ScopedRemoteOptions options({.cache = directory_});
    EXPECT_TRUE(ReadLocally(server.url("a")) == content_);
  }
  const ScopedRemoteOptions options({.cache = directory_});  // nothing is known any more
  RemoteFile::Know(server.url("a"), {.size = content_.size(), .etag = "\"v1\""});
  const int requests = server.requests();
  EXPECT_TRUE(ReadLocally(server.url("a")) == content_);
  EXPECT_EQ(server.requests(), requests);
  EXPECT_EQ(CopiesIn(directory_).size(), 1u);
}

TEST_F(ShardCacheTest, WhatHasNoTagIsToldByItsTime) {
  const auto serve = [](const std::string& content, const std::string& time) {
    return [content, time](const LoopbackRequest& request, int) {
      LoopbackAnswer answer = WithoutVersion(ServeContent(request, content));
      answer.headers.push_back("Last-Modified: " + time);
      return answer;
    };
  };
  std::string text = "Sun, 22 Nov 2026 08:00:00 GMT";
  Mutex mutex;
  const LoopbackServer server([&](const LoopbackRequest& request, int number) {
    const MutexLock lock(mutex);
    return serve(content_, text)(request, number);
  });
  for (const char* time : {"Sun, 22 Nov 2026 08:00:00 GMT", "Sun, 22 Nov 2026 09:00:00 GMT"}) {
    {
      const MutexLock lock(mutex);
      text = time;
    }
    const ScopedRemoteOptions options({.cache = directory_});
    EXPECT_TRUE(ReadLocally(server.url("a")) == content_);
  }
  EXPECT_EQ(CopiesIn(directory_).size(), 2u);
}

// Else one thread that needs both would wait for itself.
TEST_F(ShardCacheTest, WhoReadsInOrderIsNotWaitedFor) {
  const ScopedRemoteOptions options({.cache = directory_});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenByteSource(server_.url("both")));
  std::string all(content_.size(), '\0');
  const auto out = std::as_writable_bytes(std::span(all));
  STOKER_ASSERT_OK(source->ReadFully(out.first(1)).status());  // makes a copy from here on
  EXPECT_TRUE(ReadLocally(server_.url("both")) == content_);
  STOKER_ASSERT_OK(source->ReadFully(out.subspan(1)).status());
  EXPECT_TRUE(all == content_);
  EXPECT_TRUE(ReadLocally(server_.url("both")) == content_);
  EXPECT_EQ(CopiesIn(directory_).size(), 1u);
  EXPECT_EQ(HiddenNamesIn(directory_), std::set<std::string>({".lock"}));
}

TEST_F(ShardCacheTest, AFileSystemWithoutLocksIsSaidSo) {
  const ScopedRemoteOptions options({.cache = directory_});
  for (const int error_number : {ENOLCK, EOPNOTSUPP}) {
    flock_error = error_number;
    const Status status = File::OpenLocally(server_.url("a")).status();
    const std::string in_order = ReadInOrder(server_.url("a"));
    flock_error = 0;
    EXPECT_THAT(status, FailsWith(StatusCode::kFailedPrecondition, "name a directory on another"));
    EXPECT_THAT(status.message(), ::testing::HasSubstr(std::strerror(error_number)));
    EXPECT_TRUE(in_order == content_);  // without a copy
  }
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(ShardCacheTest, TroubleWithALockIsAnErrorAndNotTakenForALockThatIsHeld) {
  const ScopedRemoteOptions options({.timeout = 1, .cache = directory_});
  flock_error = EIO;
  const Status status = File::OpenLocally(server_.url("a")).status();
  flock_error = 0;
  EXPECT_THAT(status, FailsWith(StatusCode::kUnavailable, "cannot lock"));
}

TEST_F(ShardCacheTest, AFailedTransferLeavesNothing) {
  const ScopedRemoteOptions options({.retries = 0, .cache = directory_});
  const LoopbackServer broken([&](const LoopbackRequest& request, int number) {
    LoopbackAnswer answer = ServeContent(request, content_);
    if (number > 0) answer.cut = 100;
    return answer;
  });
  EXPECT_THAT(MappedFile::Open(broken.url("a")),
              FailsWith(StatusCode::kUnavailable, "after 1 try"));
  for (const auto& entry : fs::directory_iterator(directory_))
    EXPECT_EQ(entry.path().filename(), ".lock");
}

TEST_F(ShardCacheTest, ThreadsThatWantTheSameFetchItOnce) {
  const ScopedRemoteOptions options({.cache = directory_});
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { good += ReadLocally(server_.url("threads")) == content_; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
  // Up to one question each for its version, and the parts of one transfer.
  EXPECT_LE(server_.requests(), 8 + 3);
}

TEST_F(ShardCacheTest, WhatChangesOnTheServerIsAnotherCopy) {
  const ScopedRemoteOptions options({.cache = directory_});
  const std::string other = NumberedBytes(400'000);
  const LoopbackServer before(
      [&](const LoopbackRequest& r, int) { return ServeContent(r, content_, "\"1\""); });
  const LoopbackServer after(
      [&](const LoopbackRequest& r, int) { return ServeContent(r, other, "\"2\""); });
  EXPECT_TRUE(ReadLocally(before.url("a")) == content_);
  EXPECT_TRUE(ReadLocally(after.url("a")) == other);
  EXPECT_EQ(CopiesIn(directory_).size(), 2u);
}

TEST_F(ShardCacheTest, AFileOfWhichNoVersionIsKnownIsKeptForThisProcessAlone) {
  const ScopedRemoteOptions options({.cache = directory_});
  const LoopbackServer server(
      [&](const LoopbackRequest& r, int) { return WithoutVersion(ServeContent(r, content_)); });
  EXPECT_TRUE(ReadInOrder(server.url("stream")) == content_);
  EXPECT_TRUE(CopiesIn(directory_).empty());  // another process could not use it
  EXPECT_TRUE(ReadLocally(server.url("mapped")) == content_);
  const int requests = server.requests();
  EXPECT_TRUE(ReadLocally(server.url("mapped")) == content_);
  EXPECT_EQ(server.requests(), requests);
}

TEST_F(ShardCacheTest, WhatComesWithoutASizeStaysWithinTheLimitTogetherWithTheOthers) {
  const ScopedRemoteOptions options({.cache = directory_, .cache_size = 900'000});
  const LoopbackServer server([&](const LoopbackRequest&, int) {
    return LoopbackAnswer{
        .headers = {"Transfer-Encoding: chunked", "ETag: \"1\""},
        .body = fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", content_.size(), content_)};
  });
  EXPECT_TRUE(ReadLocally(server_.url("first")) == content_);
  EXPECT_TRUE(ReadLocally(server.url("second")) == content_);  // in the place of the first
  ASSERT_EQ(CopiesIn(directory_).size(), 1u);
  EXPECT_EQ(CopiesIn(directory_).begin()->second, content_.size());
  STOKER_ASSERT_OK_AND_ASSIGN(const File held, File::OpenLocally(server.url("second")));
  EXPECT_THAT(File::OpenLocally(server.url("third")),
              FailsWith(StatusCode::kResourceExhausted, "may hold 900kB"));
  EXPECT_EQ(CopiesIn(directory_).size(), 1u);
}

TEST_F(ShardCacheTest, AnotherCopyGoesInThePlaceOfOneThatCannotBeRemoved) {
  const ScopedRemoteOptions options({.cache = directory_, .cache_size = 1'200'000});
  EXPECT_TRUE(ReadLocally(server_.url("first")) == content_);
  EXPECT_TRUE(ReadLocally(server_.url("second")) == content_);
  kept_by_others = "first";
  EXPECT_TRUE(ReadLocally(server_.url("third")) == content_);
  EXPECT_EQ(NamesOfCopiesIn(directory_), "first third ");
  kept_by_others = directory_;
  EXPECT_THAT(File::OpenLocally(server_.url("fourth")),
              FailsWith(StatusCode::kResourceExhausted, "may hold"));
  kept_by_others.clear();
}

TEST_F(ShardCacheTest, AnAnswerWhoseLengthIsNoLengthIsNotKept) {
  const ScopedRemoteOptions options({.retries = 1, .cache = directory_});
  const LoopbackServer server([&](const LoopbackRequest& r, int) {
    LoopbackAnswer answer = ServeContent(r, content_);
    answer.headers.emplace_back("Content-Length: 9999999999999999999999");
    answer.cut = answer.body.size();
    return answer;
  });
  EXPECT_THAT(MappedFile::Open(server.url("a")),
              FailsWith(StatusCode::kUnavailable, "Content-Length that is no length"));
  EXPECT_THAT(ReadInOrder(server.url("a")), ::testing::HasSubstr("after 2 tries"));
}

}  // namespace stoker::shard_cache_test
