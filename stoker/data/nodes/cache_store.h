// The stores of `cache`: in memory, or in a file.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "stoker/base/mutex.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/kept_memory.h"
#include "stoker/formats/elements/element_file.h"

namespace stoker::internal {

// Elements by position. Thread-safe.
class CacheStore {
 public:
  virtual ~CacheStore() = default;
  CacheStore(const CacheStore&) = delete;
  CacheStore& operator=(const CacheStore&) = delete;

  const ElementLayout& layout() const { return layout_; }

  // Returns whether the elements are in memory; else each read makes a copy.
  virtual bool in_memory() const = 0;
  // Returns the record of the element at `position`, or null if it is not kept, or not yet.
  // REQUIRES: in_memory().
  virtual Result<const std::byte*> Find(int64_t position) const = 0;
  // Returns the same as arrays that share the store's memory, or are copies in arrays from `make`.
  virtual Result<std::optional<ElementLayout::Record>> Read(int64_t position,
                                                            const NewArray& make) const = 0;
  // Keeps a copy. Returns false if there is no room for it.
  virtual Result<bool> Put(int64_t position, const Element& element) = 0;

  // For elements that one thread puts in order: nothing is found before Finish, and Abandon forgets
  // those put so far.
  virtual Status Finish() = 0;
  virtual void Abandon() = 0;
  // Returns the number of elements, once all of them have been put.
  virtual std::optional<int64_t> complete() const = 0;

 protected:
  explicit CacheStore(std::vector<ElementField> fields) : layout_(std::move(fields)) {}

 private:
  const ElementLayout layout_;
};

// Keeps elements in blocks of at most `limit` bytes in all, charged to `kept`, which must outlive
// the store. `elements`: their number, if they are put in any order.
class MemoryStore final : public CacheStore {
 public:
  MemoryStore(std::vector<ElementField> fields, std::optional<int64_t> elements, KeptMemory& kept,
              int64_t limit);
  ~MemoryStore() override;

  // The bytes that a kept record takes beside its content.
  static constexpr int64_t kBytesToFind = sizeof(std::atomic<const std::byte*>);

  // Warns, once, if `elements` records of `bytes` in all (`exactly`, or about so many) do not fit.
  // Elements that are put in order are then not kept at all.
  void WarnIfTooSmall(int64_t elements, int64_t bytes, bool exactly);

  bool in_memory() const override { return true; }
  Result<const std::byte*> Find(int64_t position) const override;
  Result<std::optional<ElementLayout::Record>> Read(int64_t position,
                                                    const NewArray& make) const override;
  Result<bool> Put(int64_t position, const Element& element) override;
  Status Finish() override;
  void Abandon() override;
  std::optional<int64_t> complete() const override;

 private:
  using Slot = std::atomic<const std::byte*>;
  // Returns room for a record, or null.
  std::byte* Allocate(size_t bytes) STOKER_REQUIRES(mutex_);
  void Use(int64_t bytes) STOKER_REQUIRES(mutex_);
  // Warns with `what`, which gives the size; does nothing the second time.
  void Warn(const std::string& what) STOKER_REQUIRES(mutex_);

  const bool in_order_;
  KeptMemory& kept_;
  const int64_t limit_;
  std::atomic<bool> complete_{false};

  mutable Mutex mutex_;
  // Those of an in-order store are added with mutex_ held, and read without it once it is complete.
  // The others are all there from the start.
  std::deque<Slot> slots_;
  std::map<const std::byte*, Buffer, std::greater<>> blocks_
      STOKER_GUARDED_BY(mutex_);                         // by their beginning
  std::byte* free_ STOKER_GUARDED_BY(mutex_) = nullptr;  // in the newest block
  size_t free_bytes_ STOKER_GUARDED_BY(mutex_) = 0;
  int64_t used_ STOKER_GUARDED_BY(mutex_) = 0;
  bool full_ STOKER_GUARDED_BY(mutex_) = false;
  bool warned_ STOKER_GUARDED_BY(mutex_) = false;
};

// Keeps elements in an element file, which has its name once it is complete.
class FileStore final : public CacheStore {
 public:
  // Uses the file at `path` if it was made from `origin` with this Spec; else replaces it.
  static Result<std::unique_ptr<FileStore>> Open(const std::string& path, ElementFileHeader header,
                                                 std::optional<int64_t> elements);

  bool in_memory() const override { return !complete_ || file_->shared(); }
  Result<const std::byte*> Find(int64_t position) const override;
  Result<std::optional<ElementLayout::Record>> Read(int64_t position,
                                                    const NewArray& make) const override;
  Result<bool> Put(int64_t position, const Element& element) override;
  Status Finish() override;
  void Abandon() override;
  std::optional<int64_t> complete() const override;

 private:
  FileStore(std::string path, ElementFileHeader header, std::optional<int64_t> elements)
      : CacheStore(header.fields),
        path_(std::move(path)),
        header_(std::move(header)),
        elements_(elements) {}
  Result<std::shared_ptr<ElementFileWriter>> Writer();

  const std::string path_;
  const ElementFileHeader header_;
  const std::optional<int64_t> elements_;
  std::atomic<bool> complete_{false};
  std::optional<ElementFile> file_;  // written before complete_ is set, afterwards only read

  Mutex mutex_;
  std::shared_ptr<ElementFileWriter> writer_ STOKER_GUARDED_BY(mutex_);
};

// Returns a text that identifies the origin of the elements of `input`: the version of Stoker, the
// stages, their description in a recipe (StagesBefore), the sizes and times of their files, and
// `key`. Two inputs with the same text have the same elements, unless a file has changed and kept
// its size and time. Errors: those of stat, because a file that cannot be examined is not a missing
// one.
Result<std::string> OriginOf(const Dataset& input, const std::string& key,
                             const std::string& stages = {});
// Returns the first line in which two of them differ, for messages.
std::string OriginDifference(const std::string& before, const std::string& now);

std::vector<ElementField> FieldsOf(const Spec& spec);

}  // namespace stoker::internal
