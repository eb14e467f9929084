#include "stoker/machine/storage_probe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <numeric>
#include <system_error>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/permutation.h"
#include "stoker/base/random.h"
#include "stoker/base/stop_scope.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/descriptor.h"
#include "stoker/io/temporary.h"
#include "stoker/machine/cold_file.h"
#include "stoker/machine/file_system.h"
#include "stoker/machine/timed_work.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "stoker-env";
constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kSmallest = 16 * kMiB;  // of the large file: less says nothing
constexpr int64_t kSequentialBlock = kMiB;
constexpr int64_t kSmallRead = 4 << 10;
constexpr int64_t kLargeRead = 128 << 10;
constexpr int64_t kSmallFile = 16 << 10;
constexpr int kTogether = 16;
// So many blocks under way at a time stand for the read-ahead that direct reads do without.
constexpr int kSequentialThreads = 4;
// The shares of the time.
constexpr double kWriting = 0.3, kSequential = 0.2, kRandom = 0.15, kSmallFiles = 0.1;

Status Stopped() { return Cancelled("the measurement was stopped"); }

// Bytes that no file system can compress.
void FillWithNoise(std::span<std::byte> bytes, uint64_t seed) {
  auto* const words = reinterpret_cast<uint64_t*>(bytes.data());
  for (size_t i = 0; i < bytes.size() / sizeof(uint64_t); ++i) words[i] = Mix64(seed + i);
}

struct Written {
  int64_t bytes = 0;
  double seconds = 0;
};

// Writes until the file has `bytes`, or the time is up.
Result<Written> WriteLargeFile(const std::string& path, int64_t bytes, double seconds) {
  STOKER_ASSIGN_OR_RETURN(const AlignedBlock block, AlignedBlock::Allocate(kSequentialBlock));
  const Descriptor file =
      OpenUninterrupted(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (!file.valid()) return internal::WriteError(errno, path, "creating");
  Written written;
  const Stopwatch watch;
  while (written.bytes < bytes && watch.ElapsedSeconds() < seconds) {
    if (StopScope::Asked()) return Stopped();
    FillWithNoise(block.bytes(), static_cast<uint64_t>(written.bytes));
    STOKER_RETURN_IF_ERROR(
        internal::WriteAll(file.get(), block.bytes(), path, static_cast<uint64_t>(written.bytes)));
    written.bytes += kSequentialBlock;
    // Writing is measured to the disk, so it is sent there as it comes: otherwise the memory would
    // take it all at once, and the flush would take long beyond the time.
    ::sync_file_range(file.get(), std::max<int64_t>(0, written.bytes - 8 * kMiB), 8 * kMiB,
                      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE);
  }
  STOKER_RETURN_IF_ERROR(internal::SyncToDisk(file.get(), path));
  written.seconds = watch.ElapsedSeconds();
  return written;
}

// Reads the whole blocks of a file from its begin on, again and again, several at a time.
Result<WorkRate> ReadInSequence(const ColdFile& file, double seconds) {
  std::atomic<int64_t> next{0};
  const int64_t blocks = file.size() / kSequentialBlock;
  return MeasureRate(
      seconds, file.direct() ? kSequentialThreads : 1, [&](int) -> Result<WorkPiece> {
        STOKER_ASSIGN_OR_RETURN(AlignedBlock made, AlignedBlock::Allocate(kSequentialBlock));
        const auto block = std::make_shared<AlignedBlock>(std::move(made));
        return WorkPiece([&, block]() -> Result<int64_t> {
          const int64_t at = next.fetch_add(1);
          if (at > 0 && at % blocks == 0) file.Forget();
          return file.Read(at % blocks * kSequentialBlock, *block);
        });
      });
}

// Reads each block of a file once, in a random order, and begins again.
Result<WorkRate> ReadAtRandom(const ColdFile& file, int64_t block_bytes, int threads,
                              double seconds) {
  const int64_t blocks = file.size() / block_bytes;
  const IndexPermutation order(blocks, /*seed=*/1, /*epoch=*/0, /*stage=*/0);
  std::atomic<int64_t> next{0};
  return MeasureRate(seconds, threads, [&](int) -> Result<WorkPiece> {
    STOKER_ASSIGN_OR_RETURN(AlignedBlock made, AlignedBlock::Allocate(block_bytes));
    const auto block = std::make_shared<AlignedBlock>(std::move(made));
    return WorkPiece([&, block, block_bytes]() -> Result<int64_t> {
      const int64_t at = next.fetch_add(1);
      if (at > 0 && at % blocks == 0) file.Forget();
      return file.Read(order(at % blocks) * block_bytes, *block);
    });
  });
}

std::string SmallFile(const std::string& folder, int64_t index) {
  return fmt::format("{}/{:06}", folder, index);
}

// Returns how many there are when the time is up.
Result<int64_t> WriteSmallFiles(const std::string& folder, int64_t count, double seconds) {
  STOKER_ASSIGN_OR_RETURN(const AlignedBlock block, AlignedBlock::Allocate(kSmallFile));
  const Stopwatch watch;
  std::vector<Descriptor> files;
  constexpr size_t kOpen = 64;
  int64_t index = 0;
  for (; index < count && watch.ElapsedSeconds() < seconds; ++index) {
    if (StopScope::Asked()) return Stopped();
    const std::string path = SmallFile(folder, index);
    Descriptor file =
        OpenUninterrupted(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (!file.valid()) return internal::WriteError(errno, path, "creating");
    FillWithNoise(block.bytes(), Mix64(static_cast<uint64_t>(index)));
    STOKER_RETURN_IF_ERROR(internal::WriteAll(file.get(), block.bytes(), path, 0));
    ::sync_file_range(file.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
    files.push_back(std::move(file));
    // Many are on their way to the disk at a time; what is dirty could not be dropped.
    if (files.size() < kOpen && index + 1 < count) continue;
    for (const Descriptor& each : files) {
      ::sync_file_range(
          each.get(), 0, 0,
          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
      ::posix_fadvise(each.get(), 0, 0, POSIX_FADV_DONTNEED);
    }
    files.clear();
  }
  return index;
}

// Opens, reads and closes each file once, in a random order, and begins again.
Result<WorkRate> ReadSmallFiles(const std::string& folder, int64_t count, bool direct, int threads,
                                double seconds) {
  const IndexPermutation order(count, /*seed=*/2, /*epoch=*/0, /*stage=*/0);
  std::atomic<int64_t> next{0};
  return MeasureRate(seconds, threads, [&](int) -> Result<WorkPiece> {
    STOKER_ASSIGN_OR_RETURN(AlignedBlock made, AlignedBlock::Allocate(kSmallFile));
    const auto block = std::make_shared<AlignedBlock>(std::move(made));
    return WorkPiece([&, block]() -> Result<int64_t> {
      const int64_t at = next.fetch_add(1) % count;
      STOKER_ASSIGN_OR_RETURN(const ColdFile file, ColdFile::Open(SmallFile(folder, order(at)),
                                                                  direct, /*in_sequence=*/true));
      STOKER_RETURN_IF_ERROR(file.Read(0, *block).status());
      return 1;
    });
  });
}

// Sequential and random reads of a file that has at least kSmallest bytes.
Status MeasureReads(const std::string& path, const StorageProbe& probe, StorageRoofs& roofs) {
  const bool direct = HasDirectReads(path);
  roofs.how = direct ? "O_DIRECT" : "posix_fadvise";
  {
    STOKER_ASSIGN_OR_RETURN(const ColdFile file,
                            ColdFile::Open(path, direct, /*in_sequence=*/true));
    STOKER_ASSIGN_OR_RETURN(const WorkRate rate, ReadInSequence(file, kSequential * probe.seconds));
    roofs.read_bytes_per_s = rate.per_second;
  }
  STOKER_ASSIGN_OR_RETURN(const ColdFile file, ColdFile::Open(path, direct, /*in_sequence=*/false));
  STOKER_ASSIGN_OR_RETURN(const WorkRate small,
                          ReadAtRandom(file, kSmallRead, 1, kRandom * probe.seconds));
  roofs.random_reads_per_s = small.per_second / static_cast<double>(kSmallRead);
  file.Forget();
  STOKER_ASSIGN_OR_RETURN(const WorkRate large,
                          ReadAtRandom(file, kLargeRead, kTogether, kRandom * probe.seconds));
  roofs.random_bytes_per_s = large.per_second;
  return OkStatus();
}

Status MeasureSmallFiles(const std::string& folder, bool direct, const StorageProbe& probe,
                         StorageRoofs& roofs) {
  STOKER_ASSIGN_OR_RETURN(const int64_t count,
                          WriteSmallFiles(folder, probe.small_files, kSmallFiles * probe.seconds));
  if (count == 0) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const WorkRate one,
                          ReadSmallFiles(folder, count, direct, 1, kSmallFiles * probe.seconds));
  roofs.small_files_per_s = one.per_second;
  STOKER_ASSIGN_OR_RETURN(const WorkRate together, ReadSmallFiles(folder, count, direct, kTogether,
                                                                  kSmallFiles * probe.seconds));
  roofs.small_files_together_per_s = together.per_second;
  return OkStatus();
}

// What a killed process left, whose lock is gone with it.
void RemoveLeftovers(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (internal::FinalNameIn(name) == kName) (void)internal::RemoveIfStale(folder, name);
  }
}

Status MeasureFolder(const std::string& folder, int64_t free_bytes, const StorageProbe& probe,
                     StorageRoofs& roofs) {
  const int64_t room = free_bytes / 4 - (BytesToWrite(probe) - probe.file_bytes);
  const int64_t bytes = std::min(probe.file_bytes, room) / kMiB * kMiB;
  if (bytes < kSmallest) {
    roofs.problem = fmt::format(
        "nothing was written, since only {} bytes are free: free space, or name another folder or "
        "a large file, which is only read",
        free_bytes);
    return OkStatus();
  }
  RemoveLeftovers(folder);
  // Never committed: it removes itself with its files.
  STOKER_ASSIGN_OR_RETURN(const AtomicDirectory made,
                          AtomicDirectory::Create((fs::path(folder) / kName).string()));
  const std::string path = made.path() + "/large";
  STOKER_ASSIGN_OR_RETURN(const Written written,
                          WriteLargeFile(path, bytes, kWriting * probe.seconds));
  roofs.write_bytes_per_s = static_cast<double>(written.bytes) / std::max(written.seconds, 1e-9);
  if (written.bytes >= kSmallest) {
    STOKER_RETURN_IF_ERROR(MeasureReads(path, probe, roofs));
  } else {
    roofs.problem = fmt::format(
        "writing took so long that the file has only {} bytes, too few for reads", written.bytes);
  }
  return MeasureSmallFiles(made.path(), HasDirectReads(path), probe, roofs);
}

Status MeasureFile(const std::string& path, int64_t size, const StorageProbe& probe,
                   StorageRoofs& roofs) {
  if (size >= kSmallest) return MeasureReads(path, probe, roofs);
  roofs.problem =
      fmt::format("the file has {} bytes; name one of at least {}, or a folder", size, kSmallest);
  return OkStatus();
}

}  // namespace

int64_t BytesToWrite(const StorageProbe& probe) {
  return probe.file_bytes + probe.small_files * kSmallFile;
}

Result<StorageRoofs> MeasureStorage(const std::string& path, const StorageProbe& probe) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return ErrnoStatus(errno, path);
  const bool is_folder = S_ISDIR(status.st_mode);
  if (!is_folder && !S_ISREG(status.st_mode)) {
    return InvalidArgument("{}: is a device, pipe or socket; name a folder or a file", path);
  }
  const FileSystemFacts facts = DescribeFileSystem(path);
  std::error_code error;
  const fs::path absolute = fs::canonical(path, error);
  StorageRoofs roofs{.path = error ? path : absolute.string(), .type = facts.type};
  const Status measured = is_folder
                              ? MeasureFolder(path, facts.free_bytes.value_or(0), probe, roofs)
                              : MeasureFile(path, status.st_size, probe, roofs);
  if (measured.code() == StatusCode::kCancelled) return measured;
  if (!measured.ok()) roofs.problem = measured.message();
  return roofs;
}

}  // namespace stoker
