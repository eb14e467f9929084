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

Result<std::shared_ptr<const Learned>> LearnedNamedIn(const ConfigNode& recipe,
                                                      const std::filesystem::path& folder) {
  const ConfigNode* const data = recipe.Find("data");
  const ConfigNode* const file = data == nullptr ? nullptr : data->Find("learned");
  const bool named =
      file != nullptr && file->kind == ConfigNode::Kind::kScalar && !file->scalar.empty();
  return named ? ReadFrom(*file, folder) : std::shared_ptr<const Learned>();
}

Result<std::shared_ptr<const Learned>> LearnedFor(const ConfigNode& recipe, const ConfigNode& list,
                                                  const std::filesystem::path& root,
                                                  const std::filesystem::path& folder,
                                                  std::span<const TrainingRequest> requests) {
  if (FindLearnRequests(list).empty()) return std::shared_ptr<const Learned>();
  STOKER_ASSIGN_OR_RETURN(auto named, LearnedNamedIn(recipe, folder));
  if (named) return named;
  const ConfigNode& data = *recipe.Find("data");
  std::optional<ConfigNode> train = WholePipeline(data, "train");
  if (!train || train->kind != ConfigNode::Kind::kList) {
    return FailedPrecondition(
        "{}: a stage of data.eval learns from data.train, and there is none; name what was learned "
        "with `learned`, the learned.json of a run",
        data.location.ToString());
  }
  return LearnFrom(WithTrainingRequests(requests, *std::move(train)), root);
}

}  // namespace stoker
