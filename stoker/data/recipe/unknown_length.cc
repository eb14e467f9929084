#include "stoker/data/recipe/unknown_length.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/remote_path.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/options/registry.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/standard_input.h"

namespace stoker {
namespace {

bool Unknown(const DatasetNode& node) { return node.cardinality() == Cardinality::Unknown(); }

// Where the length is lost: the innermost stage that does not know its own, although its inputs
// know theirs. `outer` is the stage of the recipe's list that it belongs to: itself, or one that is
// made of several pipelines.
struct Culprit {
  const DatasetNode* node;
  const DatasetNode* outer;
};

Culprit FindCulprit(const DatasetNode& last) {
  Culprit found{&last, nullptr};
  while (true) {
    const std::vector<Dataset>& inputs = found.node->inputs();
    if (found.outer == nullptr && inputs.size() > 1) found.outer = found.node;
    const auto unknown =
        std::ranges::find_if(inputs, [](const Dataset& input) { return Unknown(input.node()); });
    if (unknown == inputs.end()) break;
    found.node = &unknown->node();
  }
  if (found.outer == nullptr) found.outer = found.node;
  return found;
}

// The entry of the list that names the stage; null if none does.
const ConfigNode* EntryOf(const DatasetNode& stage, const ConfigNode* filled) {
  if (filled == nullptr) return nullptr;
  const std::string& name = stage.name();
  const auto entry = std::ranges::find_if(filled->items, [&](const ConfigNode& item) {
    return item.Find(name) != nullptr ||
           (name == IgnoreErrors::kName && item.Find(kOnError) != nullptr);
  });
  return entry == filled->items.end() ? nullptr : &*entry;
}

bool Compressed(const std::string& path) {
  const auto source = OpenByteSource(path);
  return source.ok() && !(*source)->size_bound().exact;
}

// For a source that reads its files in order.
UnknownLength ExplainSource(const DatasetNode& source, const ConfigNode* options) {
  const std::string& name = source.name();
  const std::vector<std::string> files = source.files();
  const auto reads = [&](const std::string& path, std::string_view since) {
    return fmt::format("{} reads '{}' in order, since it is {}", name, path, since);
  };
  const ConfigNode* const index = options == nullptr ? nullptr : options->Find("index");
  const std::string fetch =
      fmt::format("`index: memory` in {} fetches the files first and counts what they hold", name);
  for (const std::string& path : files) {
    if (IsPipedIn(path)) return {reads(path, "piped in"), ""};
    if (index == nullptr && IsRemotePath(path)) return {reads(path, "on a server"), ""};
    if (Compressed(path)) return {reads(path, "compressed"), ""};
  }
  const auto remote =
      std::ranges::find_if(files, [](const std::string& path) { return IsRemotePath(path); });
  if (remote != files.end()) return {reads(*remote, "on a server"), fetch};
  if (index != nullptr && index->scalar == "none") {
    return {fmt::format("{} reads its files in order, since it says `index: none`", name),
            fmt::format("without `index: none` {} counts what the files hold", name)};
  }
  return {fmt::format("{} reads in order, and learns at the end how much there was", name), ""};
}

UnknownLength ExplainStage(const DatasetNode& stage, const ConfigNode* options) {
  if (stage.inputs().empty()) return ExplainSource(stage, options);
  if (stage.name() == IgnoreErrors::kName) {
    return {"what fails is skipped, and nobody knows how much will",
            "`on_error: replace` in place of `skip` keeps the length"};
  }
  return {fmt::format("how many elements {} gives is not known before", stage.name()), ""};
}

}  // namespace

UnknownLength ExplainUnknownLength(const Dataset& dataset, const ConfigNode* filled) {
  const Culprit culprit = FindCulprit(dataset.node());
  const ConfigNode* const entry = EntryOf(*culprit.outer, filled);
  const ConfigNode* const options = entry != nullptr && culprit.node == culprit.outer
                                        ? entry->Find(culprit.node->name())
                                        : nullptr;
  UnknownLength explained = ExplainStage(*culprit.node, options);
  if (entry != nullptr && entry->location.file != nullptr) {
    explained.why = fmt::format("{}: {}", entry->location.ToString(), explained.why);
  }
  return explained;
}

}  // namespace stoker
