#include "stoker/data/sources/files_in_order_internal.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "stoker/data/core/failure.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_unsigned.h"

namespace stoker {

FilesInOrderNode::FilesInOrderNode(std::string_view name, Spec spec, std::string details,
                                   std::vector<std::string> paths)
    : DatasetNode(std::string(name), std::move(spec), Cardinality::Unknown(), {}),
      details_(std::move(details)),
      paths_(std::move(paths)) {}

void FilesInOrderNode::NoteStart(size_t file, int64_t first) const {
  const MutexLock lock(mutex_);
  starts_.insert_or_assign(first, file);  // of files without elements, the last counts
}

std::string FilesInOrderNode::NameOf(int64_t index, std::string_view /*field*/) const {
  const MutexLock lock(mutex_);
  const auto next = starts_.upper_bound(index);
  if (next == starts_.begin()) return "";
  const auto [first, file] = *std::prev(next);
  return fmt::format("{}: record {}", paths_[file], index - first);
}

FilesInOrderIterator::FilesInOrderIterator(const OpenContext& context, const FilesInOrderNode& node,
                                           std::string_view counted)
    : Iterator(context, node),
      node_(node),
      counted_(counted),
      tolerant_(context.tolerant()),
      epoch_(context.epoch()) {}

const std::shared_ptr<MemoryAccount>& FilesInOrderIterator::account() const {
  return pass().stage(node_).account;
}

Scratch FilesInOrderIterator::NewScratch() const { return Scratch(pass().stage(node_).pool); }

Result<std::unique_ptr<ByteSource>> FilesInOrderIterator::OpenSource() const {
  return OpenByteSourceAt(path(), offset_, account());
}

Result<std::optional<Element>> FilesInOrderIterator::HandOut(Result<Element> element,
                                                             SampleKey key) const {
  if (element.ok()) return *std::move(element);
  if (!tolerant_ || !IsAboutOneElement(element.status())) return element.status();
  return FailedElement(element.status(), {node_.name(), key});
}

Result<std::optional<Element>> FilesInOrderIterator::DoNext() {
  while (file_ < node_.paths().size()) {
    STOKER_RETURN_IF_ERROR(CheckStop());
    if (!open_) {
      node_.NoteStart(file_, first_);
      STOKER_RETURN_IF_ERROR(OpenFile());
    }
    open_ = true;
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, NextInFile());
    if (element) return element;
    CloseFile();
    open_ = false;
    ++file_;
    first_ = count_;
    offset_ = 0;
  }
  return std::nullopt;
}

Result<Json> FilesInOrderIterator::DoSave() const {
  Json state = {
      {"epoch", epoch_}, {"file", file_}, {"first", first_}, {"byte", offset_}, {counted_, count_}};
  SaveMore(state);
  return state;
}

Status FilesInOrderIterator::DoRestore(const Json& state) {
  STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
  STOKER_ASSIGN_OR_RETURN(const int64_t file, SavedInteger(state, "file"));
  STOKER_ASSIGN_OR_RETURN(const int64_t offset, SavedInteger(state, "byte"));
  STOKER_ASSIGN_OR_RETURN(count_, SavedInteger(state, counted_.c_str()));
  STOKER_ASSIGN_OR_RETURN(first_, SavedInteger(state, "first"));
  file_ = static_cast<size_t>(file);
  offset_ = static_cast<uint64_t>(offset);
  return RestoreMore(state);
}

}  // namespace stoker
