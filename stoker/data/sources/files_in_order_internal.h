// Sources that read files in order from their starts, because they are compressed or have no index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/ledger.h"
#include "stoker/base/mutex.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/io/byte_source.h"

namespace stoker {

class FilesInOrderNode : public DatasetNode, public SampleNames {
 public:
  std::string Details() const final { return details_ + ", in order"; }
  std::vector<std::string> files() const final { return paths_; }
  std::string_view Disturbs() const final { return ""; }
  bool tolerates_errors() const final { return true; }

  // Returns "a.tar.gz: record 12", as far as passes over it have read.
  std::string NameOf(int64_t index, std::string_view field) const final;

  const std::vector<std::string>& paths() const { return paths_; }
  // Records that the first element of this file has number `first`, which is the same in every
  // pass.
  void NoteStart(size_t file, int64_t first) const;

 protected:
  FilesInOrderNode(std::string_view name, Spec spec, std::string details,
                   std::vector<std::string> paths);

 private:
  const std::string details_;
  const std::vector<std::string> paths_;
  mutable Mutex mutex_;
  mutable std::map<int64_t, size_t> starts_
      STOKER_GUARDED_BY(mutex_);  // files by their first elements
};

// Reads the files. Elements are numbered over all files. The state is {epoch, file, the number of
// its first element, byte, and the number of elements, under the given name}; sub-classes add more.
class FilesInOrderIterator : public Iterator {
 protected:
  // `counted`: the name of the number of elements in the state.
  FilesInOrderIterator(const OpenContext& context, const FilesInOrderNode& node,
                       std::string_view counted);

  // Opens path() at offset().
  virtual Status OpenFile() = 0;
  // Returns the next element of the open file; nothing at its end. Sets the offset to the start of
  // the following one.
  virtual Result<std::optional<Element>> NextInFile() = 0;
  // Releases what belongs to the open file; called at its end.
  virtual void CloseFile() = 0;
  virtual void SaveMore(Json& /*state*/) const {}
  virtual Status RestoreMore(const Json& /*state*/) { return OkStatus(); }

  const std::string& path() const { return node_.paths()[file_]; }
  uint64_t offset() const { return offset_; }
  void set_offset(uint64_t offset) { offset_ = offset; }
  // Return the account of the pass's memory, and the maker of its arrays.
  const std::shared_ptr<MemoryAccount>& account() const;
  Scratch NewScratch() const;
  // Returns the content of path() from offset() on, decompressed.
  Result<std::unique_ptr<ByteSource>> OpenSource() const;

  // Returns the key of the next element, good or not.
  SampleKey NextKey() { return {epoch_, count_++}; }
  // Returns the element, or its error, or in a tolerant pass a failed element.
  Result<std::optional<Element>> HandOut(Result<Element> element, SampleKey key) const;

 private:
  Result<std::optional<Element>> DoNext() final;
  Result<Json> DoSave() const final;
  Status DoRestore(const Json& state) final;

  const FilesInOrderNode& node_;
  const std::string counted_;
  const bool tolerant_;
  uint64_t epoch_;
  size_t file_ = 0;
  uint64_t offset_ = 0;  // of the next element in that file
  int64_t count_ = 0;    // elements of all files, returned or failed
  int64_t first_ = 0;    // number of the first in that file
  bool open_ = false;
};

}  // namespace stoker
