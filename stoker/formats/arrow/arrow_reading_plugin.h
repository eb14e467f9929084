// What Arrow's readers are given: a file that Stoker reads, and memory that has a limit.
#pragma once

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/formats/arrow/arrow_plugin.h"

namespace stoker {

// Reads `input`, without copies where its bytes are present, else into memory from `pool`, which
// must outlive what is read. An error of the input, which Arrow would put into words of its own, is
// kept as it was.
class InputFile final : public arrow::io::RandomAccessFile {
 public:
  InputFile(std::shared_ptr<const TableInput> input, arrow::MemoryPool* pool)
      : input_(std::move(input)), pool_(pool) {}

  arrow::Status Close() override;
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Seek(int64_t position) override;
  arrow::Result<int64_t> GetSize() override { return static_cast<int64_t>(input_->size()); }
  bool supports_zero_copy() const override { return input_->present() != nullptr; }

  using arrow::io::RandomAccessFile::ReadAt;
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t bytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t bytes) override;
  arrow::Result<int64_t> Read(int64_t bytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t bytes) override;

  // The first error of the input; ok where there was none.
  Status failure() const;

 private:
  // How many of `bytes` bytes from `position` on the file has.
  arrow::Result<int64_t> WithinFile(int64_t position, int64_t bytes) const;

  const std::shared_ptr<const TableInput> input_;
  arrow::MemoryPool* const pool_;
  int64_t position_ = 0;
  bool closed_ = false;
  mutable Mutex mutex_;
  Status failure_ STOKER_GUARDED_BY(mutex_);
};

// Memory from the system, up to a limit. Allocations fail once `stopped` returns true.
class LimitedPool final : public arrow::MemoryPool {
 public:
  explicit LimitedPool(const TableReadOptions& options);

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;
  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override;
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                           uint8_t** ptr) override;
  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override;
  int64_t bytes_allocated() const override { return used_; }
  int64_t max_memory() const override { return -1; }
  int64_t total_bytes_allocated() const override { return used_; }
  int64_t num_allocations() const override { return 0; }
  std::string backend_name() const override { return "stoker"; }

  bool stopped() const { return options_.stopped && options_.stopped(); }
  // Whether an allocation was refused for its size.
  bool exhausted() const { return exhausted_; }
  const TableReadOptions& options() const { return options_; }

 private:
  // Whether `size` more bytes may be taken, and takes them.
  arrow::Status Take(int64_t size);

  const TableReadOptions options_;
  arrow::MemoryPool* const system_;
  std::atomic<int64_t> used_{0};
  std::atomic<bool> exhausted_{false};
};

// What `work` did not manage, in Stoker's words: `where` begins the message. `work` is called once;
// it returns an arrow::Status, and may throw.
Status Guarded(const std::string& where, const InputFile& file, const LimitedPool& pool,
               const std::function<arrow::Status()>& work);

// How an arrow::Status of an InputFile or LimitedPool is made of one of Stoker's.
arrow::Status ToArrow(const Status& status);

}  // namespace stoker
