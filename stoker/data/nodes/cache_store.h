// Where `cache` keeps elements: in memory, or in a file.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

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

  const RecordLayout& layout() const { return layout_; }

  // Whether what is kept lies in memory; else each read makes a copy.
  virtual bool in_memory() const = 0;
  // The record of the element at `position`, or null where it is not kept, or not yet. REQUIRES:
  // in_memory().
  virtual Result<const std::byte*> Find(int64_t position) const = 0;
  // The same as arrays that share the store's memory, or a copy that `make` makes room for.
  virtual Result<std::optional<RecordLayout::Record>> Read(int64_t position,
                                                           const NewArray& make) const = 0;
  // Keeps a copy. False where there is no room: then it is not kept.
  virtual Result<bool> Put(int64_t position, const Element& element) = 0;

  // For elements that are put in order, one after the other, by one thread: nothing is found before
  // all of them have been put. Abandon forgets those that have.
  virtual Status Finish() = 0;
  virtual void Abandon() = 0;
  // How many elements there are, once all of them have been put.
  virtual std::optional<int64_t> complete() const = 0;

 protected:
  explicit CacheStore(std::vector<ElementField> fields) : layout_(std::move(fields)) {}

 private:
  const RecordLayout layout_;
};

// In blocks that are added to `kept`, which must outlive the store; not more than `limit` bytes of
// them. `elements`: how many there will be, where they are put in any order.
class MemoryStore final : public CacheStore {
 public:
  MemoryStore(std::vector<ElementField> fields, std::optional<int64_t> elements, KeptMemory& kept,
              int64_t limit);
  ~MemoryStore() override;

  // What keeping a record takes beside its bytes.
  static constexpr int64_t kBytesToFind = sizeof(std::atomic<const std::byte*>);

  // Warns, once, where `elements` records that take `bytes` together, `exactly` or about so many,
  // do not fit. What comes in order is then not kept at all.
  void WarnIfTooSmall(int64_t elements, int64_t bytes, bool exactly);

  bool in_memory() const override { return true; }
  Result<const std::byte*> Find(int64_t position) const override;
  Result<std::optional<RecordLayout::Record>> Read(int64_t position,
                                                   const NewArray& make) const override;
  Result<bool> Put(int64_t position, const Element& element) override;
  Status Finish() override;
  void Abandon() override;
  std::optional<int64_t> complete() const override;

 private:
  using Slot = std::atomic<const std::byte*>;
  // With mutex_ held: room for a record, or null.
  std::byte* Allocate(size_t bytes);
  void Use(int64_t bytes);
  // `what` says how much there is; says nothing the second time.
  void Warn(const std::string& what);

  const bool in_order_;
  KeptMemory& kept_;
  const int64_t limit_;
  std::atomic<bool> complete_{false};

  mutable std::mutex mutex_;  // guards what follows; slots that exist are read without it
  std::deque<Slot> slots_;
  std::map<const std::byte*, Buffer, std::greater<>> blocks_;  // by their beginning
  std::byte* free_ = nullptr;                                  // in the newest block
  size_t free_bytes_ = 0;
  int64_t used_ = 0;
  bool full_ = false;
  bool warned_ = false;
};

// In an element file that has its name once it is complete.
class FileStore final : public CacheStore {
 public:
  // Takes what is at `path` where it was made from `origin` by this Spec; else it is made anew.
  static Result<std::unique_ptr<FileStore>> Open(const std::string& path, ElementFileHeader header,
                                                 std::optional<int64_t> elements);

  bool in_memory() const override { return !complete_ || file_->shared(); }
  Result<const std::byte*> Find(int64_t position) const override;
  Result<std::optional<RecordLayout::Record>> Read(int64_t position,
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

  std::mutex mutex_;  // guards writer_
  std::shared_ptr<ElementFileWriter> writer_;
};

// What elements of `input` are made from: the version of Stoker, the stages, how a recipe describes
// them (StagesBefore), the sizes and times of their files, and `key`. Two inputs of equal text give
// equal elements, unless a file has changed and kept its size and time. Errors: those of stat,
// since a file that cannot be looked at is not a missing one.
Result<std::string> OriginOf(const Dataset& input, const std::string& key,
                             const std::string& stages = {});
// The first line in which two of them differ, for messages.
std::string OriginDifference(const std::string& before, const std::string& now);

std::vector<ElementField> FieldsOf(const Spec& spec);

}  // namespace stoker::internal
