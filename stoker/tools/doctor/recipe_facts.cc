#include "stoker/tools/doctor/recipe_facts.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "stoker/base/named_kind.h"
#include "stoker/data/core/groups_elements.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/options/whole_pipeline.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/doctor/recipe_edit.h"

namespace stoker {
namespace {

using Kind = ConfigNode::Kind;

constexpr int kElementsToWeigh = 8;
// Stages that are quick and make elements larger: a cache before them keeps less.
constexpr std::string_view kQuick[] = {"normalize", "cast", "layout", "one_hot"};

std::optional<int64_t> IntegerIn(const ConfigNode& node) {
  int64_t value = 0;
  const std::string& text = node.scalar;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (node.kind != Kind::kScalar || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::string TextAt(const ConfigNode& recipe, std::string_view path) {
  const ConfigNode* const node = NodeAt(recipe, path);
  return node == nullptr ? "" : node->scalar;
}

// Of `batch: 16`, `batch: {size: 16}` and `batch`, and of padded_batch.
void NoteBatch(const ConfigNode& stage, const std::string& name, size_t number,
               RecipeFacts& facts) {
  facts.batch_key = fmt::format("data.train.{}.{}", number, name);
  const ConfigNode* const value = stage.Find(name);
  if (value != nullptr && value->kind == Kind::kScalar) {
    facts.batch = IntegerIn(*value).value_or(0);
    return;
  }
  facts.batch_key += ".size";
  facts.batch = value == nullptr ? 0 : IntegerAt(*value, "size").value_or(0);
}

void NoteStages(const ConfigNode& recipe, RecipeFacts& facts) {
  const ConfigNode* const train = NodeAt(recipe, "data.train");
  if (train == nullptr || train->kind != Kind::kList) return;
  for (size_t i = 0; i < train->items.size(); ++i) {
    facts.stages.emplace_back(NamedKind(train->items[i]));
    const std::string& name = facts.stages.back();
    if (name == "batch" || name == "padded_batch") NoteBatch(train->items[i], name, i, facts);
  }
  facts.ends_with_prefetch = !facts.stages.empty() && facts.stages.back() == "prefetch";
}

void NoteCallbacks(const ConfigNode& recipe, RecipeFacts& facts) {
  const ConfigNode* const callbacks = NodeAt(recipe, "train.callbacks");
  if (callbacks == nullptr) return;
  for (size_t i = 0; i < callbacks->items.size(); ++i) {
    if (NamedKind(callbacks->items[i]) != "log_tensors") continue;
    facts.tensors_place = static_cast<int64_t>(i);
    facts.tensors_every = IntegerAt(callbacks->items[i], "log_tensors.every");
  }
}

// The stages that the training reads: those of data.source, `split`, and those of data.train.
std::vector<std::string> AllStages(const ConfigNode& recipe) {
  const ConfigNode* const data = recipe.Find("data");
  if (data == nullptr) return {};
  const std::optional<ConfigNode> whole = WholePipeline(*data, "train");
  std::vector<std::string> names;
  if (!whole || whole->kind != Kind::kList) return names;
  for (const ConfigNode& stage : whole->items) names.emplace_back(NamedKind(stage));
  return names;
}

// The node of each stage, from their names; null where a stage has none of its own.
std::vector<const DatasetNode*> NodesOf(const std::vector<std::string>& stages,
                                        const Dataset& dataset) {
  std::vector<const DatasetNode*> nodes(stages.size());
  const DatasetNode* at = &dataset.node();
  for (size_t i = stages.size(); i-- > 0;) {
    const DatasetNode* node = at;
    while (node->name() != stages[i] && !node->inputs().empty()) node = &node->input().node();
    if (node->name() != stages[i]) continue;
    nodes[i] = node;
    if (!node->inputs().empty()) at = &node->input().node();
  }
  return nodes;
}

// Whether it makes one element of one and draws nothing, so that a shuffle may come after it
// instead of before. With a `take` between them other samples would come.
bool IsPlainMap(const DatasetNode* node) {
  return node != nullptr && node->element_wise() != nullptr && !node->random();
}

ConfigNode WithoutEval(ConfigNode recipe) {
  recipe.Find("data")->Erase("eval");
  return recipe;
}

// data.train of its first stages only, with a cache after them.
Result<ConfigNode> WithCacheAfter(ConfigNode recipe, int after, int move) {
  STOKER_RETURN_IF_ERROR(
      ApplyChange(recipe, RecipeChange::Insert("data.train", after, "cache", move)));
  std::vector<ConfigNode>& stages = recipe.Find("data")->Find("train")->items;
  stages.resize(static_cast<size_t>(after) + (move < 0 ? 2 : 1));  // what moves follows the cache
  return WithoutEval(std::move(recipe));
}

// The bytes of all elements, from the first few; 0 if their number is unknown.
int64_t BytesOf(const Dataset& dataset) {
  if (!dataset.cardinality().known()) return 0;
  const auto batches = dataset.Open(Runtime::Inline(), {.losses = LossLogging::kNone});
  if (!batches.ok()) return 0;
  double bytes = 0, elements = 0;
  for (; elements < kElementsToWeigh; ++elements) {
    const auto element = (*batches)->Next();
    if (!element.ok() || !*element) break;
    for (const Array& array : (*element)->arrays) bytes += static_cast<double>(array.num_bytes());
  }
  if (elements == 0) return 0;
  return static_cast<int64_t>(bytes / elements *
                              static_cast<double>(dataset.cardinality().value()));
}

}  // namespace

const ConfigNode* NodeAt(const ConfigNode& recipe, std::string_view path) {
  const ConfigNode* node = &recipe;
  while (node != nullptr) {
    const size_t dot = path.find('.');
    node = node->Find(path.substr(0, dot));
    if (dot == path.npos) break;
    path.remove_prefix(dot + 1);
  }
  return node;
}

std::optional<int64_t> IntegerAt(const ConfigNode& recipe, std::string_view path) {
  const ConfigNode* const node = NodeAt(recipe, path);
  return node == nullptr ? std::nullopt : IntegerIn(*node);
}

RecipeFacts FactsOf(const ConfigNode& recipe) {
  RecipeFacts facts;
  NoteStages(recipe, facts);
  NoteCallbacks(recipe, facts);
  facts.has_model = recipe.Find("model") != nullptr;
  facts.feed_threads = IntegerAt(recipe, "train.feed_threads");
  facts.threads = IntegerAt(recipe, "train.threads");
  facts.log_every = IntegerAt(recipe, "train.log_every");
  facts.eval_every = IntegerAt(recipe, "train.eval_every").value_or(1);
  facts.eval_every_steps = IntegerAt(recipe, "train.eval_every_steps");
  facts.checkpoint_every_steps = IntegerAt(recipe, "train.checkpoint.every_steps");
  facts.checkpoint_async = TextAt(recipe, "train.checkpoint.async") != "false";
  facts.histograms_every = IntegerAt(recipe, "train.tensorboard.histograms");
  const std::string memory = TextAt(recipe, "train.memory");
  facts.memory_set = !memory.empty() && memory != "auto";
  facts.detect_anomaly = TextAt(recipe, "train.detect_anomaly") == "true";
  const ConfigNode* const schedule = NodeAt(recipe, "train.schedule");
  facts.follows_evaluations =
      NodeAt(recipe, "train.early_stopping.patience") != nullptr ||
      NodeAt(recipe, "train.early_stopping.goal") != nullptr ||
      !TextAt(recipe, "train.checkpoint.best").empty() ||
      (schedule != nullptr && NamedKind(*schedule).find("plateau") != std::string::npos);
  return facts;
}

void FindCachePlace(const ConfigNode& recipe, const std::filesystem::path& folder,
                    bool source_is_slow, RecipeFacts& facts) {
  const std::vector<std::string> stages = AllStages(recipe);
  if (stages.empty() || std::ranges::find(stages, "cache") != stages.end()) return;
  const Result<DataRecipe> whole = ParseDataSection(WithoutEval(recipe), folder);
  if (!whole.ok()) return;
  const std::vector<const DatasetNode*> nodes = NodesOf(stages, whole->train);
  const auto batch = std::ranges::find_if(nodes, [](const DatasetNode* node) {
    return dynamic_cast<const GroupsElements*>(node) != nullptr;
  });
  // What data.source has is shared with the evaluation: no stage of it moves, and a cache follows
  // it at the earliest.
  const int64_t shared = std::ssize(stages) - std::ssize(facts.stages);
  const int64_t first = std::max<int64_t>(shared - 1, source_is_slow ? 0 : 1);
  const int64_t shuffle =
      std::ranges::find(facts.stages, "shuffle") - facts.stages.begin() + shared;
  for (int64_t after = batch - nodes.begin() - 1; after >= first; --after) {
    const std::string& name = stages[static_cast<size_t>(after)];
    if (std::ranges::find(kQuick, name) != std::end(kQuick) || name == "shuffle") continue;
    const bool moves = shuffle < after;
    if (moves && !std::all_of(nodes.begin() + shuffle + 1, nodes.begin() + after + 1, IsPlainMap))
      continue;
    const int64_t place = after - shared, move = moves ? shuffle - shared : -1;
    const Result<ConfigNode> cached =
        WithCacheAfter(recipe, static_cast<int>(place), static_cast<int>(move));
    if (!cached.ok()) continue;
    const Result<DataRecipe> data = ParseDataSection(*cached, folder);
    if (!data.ok()) continue;  // something before it draws at random
    facts.cache_after = place;
    facts.cache_move = move;
    facts.cache_bytes = BytesOf(data->train);
    return;
  }
}

}  // namespace stoker
