#include "stoker/data/recipe/learned_section.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "stoker/data/learn/learn.h"
#include "stoker/data/learn/requests.h"
#include "stoker/data/options/whole_pipeline.h"

namespace stoker {
namespace {

Result<std::shared_ptr<const Learned>> ReadFrom(const ConfigNode& file,
                                                const std::filesystem::path& folder) {
  const std::filesystem::path written = file.scalar;
  const std::string path =
      (file.location.line == 0 ? written : folder / written).lexically_normal().string();
  const Result<std::shared_ptr<const Learned>> read = ReadLearned(path);
  if (!read.ok()) {
    return Status(
        read.status().code(),
        fmt::format("{}: data.learned: {}", file.location.ToString(), read.status().message()));
  }
  Learned learned = **read;
  learned.from["file"] = path;
  return std::make_shared<const Learned>(std::move(learned));
}

}  // namespace

Result<std::shared_ptr<const Learned>> LearnedFor(const ConfigNode& data, const ConfigNode& list,
                                                  const std::filesystem::path& root,
                                                  const std::filesystem::path& folder) {
  if (FindLearnRequests(list).empty()) return std::shared_ptr<const Learned>();
  const ConfigNode* const file = data.Find("learned");
  if (file != nullptr && file->kind == ConfigNode::Kind::kScalar && !file->scalar.empty())
    return ReadFrom(*file, folder);
  const std::optional<ConfigNode> train = WholePipeline(data, "train");
  if (!train || train->kind != ConfigNode::Kind::kList) {
    return FailedPrecondition(
        "{}: a stage of data.eval learns from data.train, and there is none; name what was learned "
        "with `learned`, the learned.json of a run",
        data.location.ToString());
  }
  return LearnFrom(*train, root);
}

}  // namespace stoker
