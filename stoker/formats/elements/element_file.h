// Element files: all elements of a dataset in one file, each readable by its position. `cache` and
// `snapshot` store them. README.md has the layout byte by byte.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/formats/chunked/chunked_array.h"
#include "stoker/formats/elements/record.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file_bytes.h"

namespace stoker {

struct ElementFileHeader {
  std::vector<ElementField> fields;
  std::string origin;  // what the elements were made from, as text: see ops/cache.h
};

// Writes atomically (io/atomic_file.h): no file has the name `path` before Commit. Thread-safe;
// move it only before it is shared.
class ElementFileWriter {
 public:
  static Result<ElementFileWriter> Create(const std::string& path, const ElementFileHeader& header);

  // Adds the element of this position (>= 0), in any order. Ignores a position that is already
  // there. The arrays must fit the fields.
  Status Add(int64_t position, int64_t index, std::span<const Array> arrays);

  // Returns how many different positions have been added.
  int64_t count() const;

  // Finishes the file. Errors: also kFailedPrecondition if a position below the highest one is
  // missing.
  Status Commit();

 private:
  ElementFileWriter(AtomicFileWriter file, std::string path, ElementLayout layout)
      : path_(std::move(path)),
        layout_(std::move(layout)),
        mutex_(std::make_unique<Mutex>()),
        file_(std::move(file)) {}

  std::string path_;
  ElementLayout layout_;
  std::unique_ptr<Mutex> mutex_;
  AtomicFileWriter file_ STOKER_GUARDED_BY(*mutex_);
  std::vector<uint64_t> offsets_ STOKER_GUARDED_BY(*mutex_);  // by position; 0: missing
  int64_t count_ STOKER_GUARDED_BY(*mutex_) = 0;
  std::vector<std::byte> record_ STOKER_GUARDED_BY(*mutex_);
};

// A file opened for reading. Open checks header, index and their checksums; Read checks a record's
// own checksum. A cheap value; const calls are safe from several threads.
class ElementFile {
 public:
  // Opens it as io/file_bytes.h says. Errors: kDataLoss with file and byte; those of
  // FileBytes::Open.
  static Result<ElementFile> Open(const std::string& path);
  // Opens bytes in memory, 8-byte aligned, shared, not copied.
  static Result<ElementFile> Parse(Buffer bytes, std::string name);
  // Returns whether the file at `path` is empty or begins like an element file, even if damaged
  // later. Errors: those of opening and reading it.
  static Result<bool> BeginsLikeOne(const std::string& path);

  const ElementFileHeader& header() const { return header_; }
  const ElementLayout& layout() const { return *layout_; }
  int64_t size() const { return size_; }

  // Returns whether elements share the file's memory; else they are copies.
  bool shared() const { return file_.present(); }
  // Returns the element at `position`, 0 <= position < size(); `make` makes room for a copy.
  // Errors: kDataLoss.
  Result<ElementLayout::Record> Read(int64_t position,
                                     const NewArray& make = NewArrayOfNobody) const;
  // Returns its record in the file's memory, checked. REQUIRES: shared().
  Result<std::span<const std::byte>> ReadRecord(int64_t position) const;

 private:
  explicit ElementFile(FileBytes file) : file_(std::move(file)) {}
  static Result<ElementFile> Parse(FileBytes bytes);
  Status ParseEnd(uint64_t records_at);
  uint64_t OffsetOf(int64_t position) const;

  FileBytes file_;
  ElementFileHeader header_;
  std::shared_ptr<const ElementLayout> layout_;
  int64_t size_ = 0;
  uint64_t index_at_ = 0;
};

}  // namespace stoker
