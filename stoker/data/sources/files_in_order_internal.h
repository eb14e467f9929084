// Sources that read files one after the other, from their starts: those whose files are compressed,
// or have no index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/ledger.h"
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

  // "a.tar.gz: record 12", by what the passes over it have seen.
  std::string NameOf(int64_t index, std::string_view field) const final;

  const std::vector<std::string>& paths() const { return paths_; }
  // The first element of this file is `first` of all: found out by whoever gets there, and the same
  // in every pass.
  void NoteStart(size_t file, int64_t first) const;

 protected:
  FilesInOrderNode(std::string_view name, Spec spec, std::string details,
                   std::vector<std::string> paths);

 private:
  const std::string details_;
  const std::vector<std::string> paths_;
  mutable std::mutex mutex_;
  mutable std::map<int64_t, size_t> starts_;  // guarded by mutex_; files by their first elements
};

// Goes through them. Elements are numbered over all files. The state is {epoch, file, the number of
// its first element, byte, and how many elements there were, by the name given}; sub-classes add
// what else they need.
class FilesInOrderIterator : public Iterator {
 protected:
  // `counted`: what the number of elements is called in the state.
  FilesInOrderIterator(const OpenContext& context, const FilesInOrderNode& node,
                       std::string_view counted);

  // Opens path() at offset().
  virtual Status OpenFile() = 0;
  // The next element of the open file; nothing at its end. Sets the offset to where the one behind
  // it begins.
  virtual Result<std::optional<Element>> NextInFile() = 0;
  // What belongs to the open file goes; called at its end.
  virtual void CloseFile() = 0;
  virtual void SaveMore(Json& /*state*/) const {}
  virtual Status RestoreMore(const Json& /*state*/) { return OkStatus(); }

  const std::string& path() const { return node_.paths()[file_]; }
  uint64_t offset() const { return offset_; }
  void set_offset(uint64_t offset) { offset_ = offset; }
  // What the pass's memory is charged to, and what makes arrays of it.
  const std::shared_ptr<MemoryAccount>& account() const;
  Scratch NewScratch() const;
  // The content of path() from offset() on, decompressed.
  Result<std::unique_ptr<ByteSource>> OpenSource() const;

  // The key of the next element, good or not.
  SampleKey NextKey() { return {epoch_, count_++}; }
  // The element, or its error, or in a tolerant pass one that says which it was.
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
  uint64_t offset_ = 0;  // of what comes next in that file
  int64_t count_ = 0;    // elements of all files, handed out or failed
  int64_t first_ = 0;    // of them, the first of that file
  bool open_ = false;
};

}  // namespace stoker
