#include "stoker/data/nodes/cache_store.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>

#include "stoker/base/default_budget.h"
#include "stoker/base/log.h"
#include "stoker/base/remote_path.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/checksum.h"
#include "stoker/io/remote/remote_file.h"
#include "stoker/io/sha256.h"
#include "stoker/io/side_files.h"

namespace stoker::internal {
namespace {

constexpr size_t kBlockBytes = 1 << 20;

constexpr size_t kAddressDigits = 16;
// More files of a stage are summed up in one line, so that a header stays small.
constexpr size_t kFilesTold = 64;

Result<std::string> VersionOf(const std::string& path) {
  if (IsRemotePath(path)) {
    const Result<RemoteVersion> version = RemoteFile::Find(path);
    if (version.ok()) return version->ToString();
    if (version.status().code() != StatusCode::kNotFound) return version.status();
    return std::string("missing");
  }
  struct stat file {};
  if (::stat(path.c_str(), &file) == 0) {
    return fmt::format("{} bytes, changed at {}.{:09}", file.st_size, file.st_mtim.tv_sec,
                       file.st_mtim.tv_nsec);
  }
  if (errno == ENOENT || errno == ENOTDIR) return std::string("missing");
  return ErrnoStatus(errno, path + ": cannot look at");
}

Result<std::string> FileLines(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) {
    STOKER_ASSIGN_OR_RETURN(const std::string version, VersionOf(path));
    text += fmt::format("file {}: {}\n", path, version);
  }
  if (paths.size() <= kFilesTold) return text;
  return fmt::format("{} files from {} on: checksums of their sizes and times {:08x} {:08x}\n",
                     paths.size(), paths.front(), Crc32c(text), Crc32(text));
}

Status AppendSources(const Dataset& dataset, std::string& text) {
  for (const Dataset& input : dataset.node().inputs())
    STOKER_RETURN_IF_ERROR(AppendSources(input, text));
  STOKER_ASSIGN_OR_RETURN(const std::string files, FileLines(dataset.node().files()));
  text += files;
  if (const std::optional<uint32_t> checksum = ChecksumOfArrays(dataset.node()))
    text += fmt::format("arrays with checksum {:08x}\n", *checksum);
  return OkStatus();
}

}  // namespace

MemoryStore::MemoryStore(std::vector<ElementField> fields, std::optional<int64_t> elements,
                         KeptMemory& kept, int64_t limit)
    : CacheStore(std::move(fields)), in_order_(!elements), kept_(kept), limit_(limit) {
  const int64_t wanted = elements.value_or(0);
  if (wanted > limit / static_cast<int64_t>(sizeof(Slot))) {
    full_ = true;
    Warn(fmt::format("{} elements are too many to keep any", wanted));
    return;
  }
  slots_ = std::deque<Slot>(static_cast<size_t>(wanted));
  Use(wanted * static_cast<int64_t>(sizeof(Slot)));
}

MemoryStore::~MemoryStore() { kept_.Add(-used_); }

void MemoryStore::Use(int64_t bytes) {
  used_ += bytes;
  kept_.Add(bytes);
}

void MemoryStore::WarnIfTooSmall(int64_t elements, int64_t bytes, bool exactly) {
  const MutexLock lock(mutex_);
  if (bytes <= limit_) return;
  Warn(fmt::format("{} elements take {}{:.1f} MB", elements, exactly ? "" : "about ",
                   static_cast<double>(bytes) * 1e-6));
  full_ = full_ || in_order_;
}

Result<const std::byte*> MemoryStore::Find(int64_t position) const {
  if (position >= std::ssize(slots_)) return nullptr;
  return slots_[static_cast<size_t>(position)].load(std::memory_order_acquire);
}

Result<std::optional<ElementLayout::Record>> MemoryStore::Read(int64_t position,
                                                               const NewArray&) const {
  STOKER_ASSIGN_OR_RETURN(const std::byte* record, Find(position));
  if (record == nullptr) return std::nullopt;
  Buffer block;
  {
    const MutexLock lock(mutex_);
    block = blocks_.lower_bound(record)->second;  // the last one that begins there or before
  }
  return layout().Parse(block, static_cast<size_t>(record - block.data()));
}

Result<bool> MemoryStore::Put(int64_t position, const Element& element) {
  const size_t bytes = layout().RecordBytes(element.arrays);
  std::byte* record = nullptr;
  {
    const MutexLock lock(mutex_);
    if (full_) return false;
    record = Allocate(bytes);
    if (record == nullptr) {
      full_ = true;
      Warn("the elements take more");
      return false;
    }
    if (in_order_) {
      slots_.emplace_back(nullptr);
      Use(sizeof(Slot));
    }
  }
  layout().Write(element.key.index, element.arrays, record);
  slots_[static_cast<size_t>(position)].store(record, std::memory_order_release);
  return true;
}

std::byte* MemoryStore::Allocate(size_t bytes) {
  if (bytes > free_bytes_) {
    const auto fits = [&](size_t block) STOKER_REQUIRES(mutex_) {
      return used_ + static_cast<int64_t>(block) <= limit_;
    };
    const size_t block = fits(std::max(bytes, kBlockBytes)) ? std::max(bytes, kBlockBytes) : bytes;
    if (!fits(block)) return nullptr;
    Use(static_cast<int64_t>(block));
    Buffer buffer = Buffer::Allocate(block, kept_.account());
    free_ = buffer.data();
    free_bytes_ = block;
    blocks_.emplace(free_, std::move(buffer));
  }
  free_bytes_ -= bytes;
  return std::exchange(free_, free_ + bytes);
}

void MemoryStore::Warn(const std::string& what) {
  if (std::exchange(warned_, true)) return;
  LogWarning(
      "cache: {}, and there is room for {:.1f} MB, half of the memory budget; {}: {}, or give "
      "cache a path to keep them on disk",
      what, static_cast<double>(limit_) * 1e-6,
      in_order_ ? "elements that come in order and do not all fit are not kept"
                : "elements that do not fit are made again in every epoch",
      HowToRaiseTheBudget());
}

Status MemoryStore::Finish() {
  complete_ = true;
  return OkStatus();
}

void MemoryStore::Abandon() {
  const MutexLock lock(mutex_);
  slots_.clear();
  blocks_.clear();
  free_bytes_ = 0;
  Use(-used_);
}

std::optional<int64_t> MemoryStore::complete() const {
  if (!complete_) return std::nullopt;
  return std::ssize(slots_);
}

namespace {

// A data folder may be read-only.
Status CannotBeMade(const Status& status) {
  if (status.code() != StatusCode::kPermissionDenied && status.code() != StatusCode::kNotFound)
    return status;
  return Status(
      status.code(),
      fmt::format("{}; the file of `cache` is written there, and a relative path of a "
                  "recipe starts at data.root: give an absolute path in a folder of yours",
                  status.message()));
}

}  // namespace

Result<std::unique_ptr<FileStore>> FileStore::Open(const std::string& path,
                                                   ElementFileHeader header,
                                                   std::optional<int64_t> elements) {
  std::unique_ptr<FileStore> store(new FileStore(path, std::move(header), elements));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  // What killed runs have left half-written.
  if (WritesSideFiles()) {
    const Status removed = RemoveStaleTemporaries(folder.empty() ? "." : folder).status();
    if (!removed.ok()) return CannotBeMade(removed);
  }
  Result<ElementFile> file = ElementFile::Open(path);
  if (!file.ok()) {
    if (file.status().code() == StatusCode::kNotFound) return store;
    STOKER_ASSIGN_OR_RETURN(const bool ours, ElementFile::BeginsLikeOne(path));
    if (!ours) {
      return FailedPrecondition(
          "cache: {}: is another kind of file, which is not written over; remove it, or give cache "
          "another path",
          path);
    }
    LogWarning("cache: {}; it is made anew", file.status().message());
    return store;
  }
  const ElementFileHeader& there = file->header();
  if (there.origin != store->header_.origin) {
    LogInfo("cache: {}: was made by another pipeline, or from other files: {}; it is made anew",
            path, OriginDifference(there.origin, store->header_.origin));
  } else if (there.fields != store->header_.fields ||
             elements.value_or(file->size()) != file->size()) {
    LogInfo("cache: {}: holds other elements than this pipeline gives; it is made anew", path);
  } else {
    store->file_ = *std::move(file);
    store->complete_ = true;
  }
  return store;
}

Result<const std::byte*> FileStore::Find(int64_t position) const {
  if (!complete_ || !file_->shared()) return nullptr;
  STOKER_ASSIGN_OR_RETURN(const std::span<const std::byte> record, file_->ReadRecord(position));
  return record.data();
}

Result<std::optional<ElementLayout::Record>> FileStore::Read(int64_t position,
                                                             const NewArray& make) const {
  if (!complete_) return std::nullopt;
  STOKER_ASSIGN_OR_RETURN(ElementLayout::Record record, file_->Read(position, make));
  return record;
}

Result<std::shared_ptr<ElementFileWriter>> FileStore::Writer() {
  const MutexLock lock(mutex_);
  if (!writer_ && !complete_) {
    Result<ElementFileWriter> writer = ElementFileWriter::Create(path_, header_);
    if (!writer.ok()) return CannotBeMade(writer.status());
    writer_ = std::make_shared<ElementFileWriter>(*std::move(writer));
  }
  return writer_;
}

Result<bool> FileStore::Put(int64_t position, const Element& element) {
  if (!complete_ && !WritesSideFiles()) return false;
  STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<ElementFileWriter> writer, Writer());
  if (!writer) return true;  // complete
  STOKER_RETURN_IF_ERROR(writer->Add(position, element.key.index, element.arrays));
  if (elements_ && writer->count() == *elements_) STOKER_RETURN_IF_ERROR(Finish());
  return true;
}

Status FileStore::Finish() {
  if (!complete_ && !WritesSideFiles()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<ElementFileWriter> writer, Writer());
  const MutexLock lock(mutex_);
  if (complete_) return OkStatus();
  STOKER_RETURN_IF_ERROR(writer->Commit());
  const int64_t written = writer->count();
  writer_.reset();
  STOKER_ASSIGN_OR_RETURN(ElementFile file, ElementFile::Open(path_));
  if (file.header().origin != header_.origin || file.size() != written) {
    return FailedPrecondition(
        "{}: another process has just written another pipeline's cache there; give each its own "
        "path",
        path_);
  }
  file_ = std::move(file);
  complete_ = true;
  return OkStatus();
}

void FileStore::Abandon() {
  const MutexLock lock(mutex_);
  writer_.reset();
}

std::optional<int64_t> FileStore::complete() const {
  if (!complete_) return std::nullopt;
  return file_->size();
}

Result<std::string> OriginOf(const Dataset& input, const std::string& key,
                             const std::string& stages) {
  std::string text = fmt::format("stoker {}, {}\n{}{}", STOKER_VERSION,
                                 key.empty() ? "no key" : key, input.ToString(), stages);
  STOKER_RETURN_IF_ERROR(AppendSources(input, text));
  std::string shown = WithoutSecrets(text);
  // What was left out counts all the same: another query may name another file.
  if (shown != text)
    shown += fmt::format("addresses {}\n", HexOf(Sha256(text)).substr(0, kAddressDigits));
  return shown;
}

std::string OriginDifference(const std::string& before, const std::string& now) {
  std::istringstream a(before), b(now);
  std::string was, is;
  do {
    if (!std::getline(a, was)) was = "nothing";
    if (!std::getline(b, is)) is = "nothing";
  } while (was == is && was != "nothing");
  return fmt::format("it was \"{}\", it is \"{}\"", was, is);
}

std::vector<ElementField> FieldsOf(const Spec& spec) {
  std::vector<ElementField> fields;
  for (const Field& field : spec.fields) fields.push_back({field.name, field.dtype, field.shape});
  return fields;
}

}  // namespace stoker::internal
