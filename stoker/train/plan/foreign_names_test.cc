#include "stoker/base/foreign_names.h"

#include "stoker/base/testing.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/run/recipe.h"

namespace stoker::foreign_names_test {

using testing::HasSubstr;

bool HasOption(const std::vector<Option>& options, std::string_view name) {
  return std::ranges::find(options, name, &Option::name) != options.end();
}

// Whether a kind has this path: its name, or its name and one of its options.
bool IsAmong(const std::vector<KindDescription>& kinds, std::string_view path) {
  const size_t dot = path.find('.');
  const auto kind = std::ranges::find(kinds, path.substr(0, dot), &KindDescription::name);
  if (kind == kinds.end()) return false;
  return dot == std::string_view::npos || HasOption(kind->options, path.substr(dot + 1));
}

// Whether `path` leads to a key of a recipe's section `train`, every one of which is filled in.
bool IsKeyOfTrain(std::string_view path) {
  if (path.starts_with("optimizer."))
    return IsAmong(OptimizerRegistry::Known().Describe(), path.substr(path.find('.') + 1));
  if (path.starts_with("schedule."))
    return IsAmong(ScheduleRegistry::Known().Describe(), path.substr(path.find('.') + 1));
  if (path.starts_with("loss."))
    return IsAmong(LossRegistry::Known().Describe(), path.substr(path.find('.') + 1));
  if (path.starts_with("groups."))
    return HasOption(OptionsOf<GroupOptions>(), path.substr(path.find('.') + 1));
  const ConfigNode filled = TrainRecipe{}.Filled();
  const ConfigNode* node = &filled;
  while (node != nullptr && !path.empty()) {
    const size_t dot = path.find('.');
    node = node->Find(path.substr(0, dot));
    path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  }
  return node != nullptr;
}

bool IsOptionOfSomething(std::string_view name) {
  for (const auto& kinds :
       {OperatorRegistry::Known().Describe(), ModelRegistry::Known().Describe()}) {
    for (const KindDescription& kind : kinds) {
      if (HasOption(kind.options, name)) return true;
    }
  }
  return false;
}

bool Exists(std::string_view here) {
  if (here.starts_with('.')) return IsOptionOfSomething(here.substr(1));
  if (here == "train" || here == "model" || here == "data") return true;
  if (here.starts_with("train.")) return IsKeyOfTrain(here.substr(6));
  if (here.starts_with("data.")) return HasOption(DescribeDataSection().options, here.substr(5));
  return IsAmong(OperatorRegistry::Known().Describe(), here);
}

TEST(ForeignNames, EachPointsToSomethingThatExistsHere) {
  for (const ForeignName& row : ForeignNames()) {
    EXPECT_TRUE(row.here.empty() || Exists(row.here)) << row.name << " -> " << row.here;
    EXPECT_TRUE(!row.here.empty() || !row.says.empty()) << row.name;
    EXPECT_FALSE(ForeignNameAdvice(row.name, {"size", "buffer", "depth"}).empty() &&
                 !row.here.starts_with('.'))
        << row.name;
  }
  EXPECT_FALSE(Exists("train.nowhere"));
  EXPECT_FALSE(Exists("batch.nowhere"));
}

TEST(ForeignNames, NoneOfThemIsAnOperatorThatThereIs) {
  const std::vector<std::string> operators = OperatorRegistry::Known().Names();
  for (const ForeignName& row : ForeignNames()) {
    EXPECT_EQ(std::ranges::count(operators, row.name), 0) << row.name;
  }
}

TEST(ForeignNames, AnUnknownKeyOptionOrOperatorIsCalledWhatItIsCalledHere) {
  const auto stage = [](const char* yaml) {
    return ParseStage(*ParseYaml(yaml, "r.yaml")).status();
  };
  const auto refused = [](std::string_view says) {
    return FailsWith(StatusCode::kInvalidArgument, std::string(says));
  };
  EXPECT_THAT(stage("batch: {batch_size: 64}"), refused("'batch_size'; here that is size"));
  EXPECT_THAT(stage("batch: {batch_size: 64}").message(), testing::Not(HasSubstr("required")));
  EXPECT_THAT(stage("batch: {size: 64, drop_last: true}"), refused("here that is drop_remainder"));
  EXPECT_THAT(stage("shuffle: {buffer_size: 64}"), refused("here that is buffer"));
  EXPECT_THAT(stage("prefetch: {buffer_size: 64}"), refused("here that is depth"));
  EXPECT_THAT(stage("random_flip: {p: 0.5}"), refused("here that is probability"));
  EXPECT_THAT(stage("random_horizontal_flip"), refused("here that is random_flip.direction"));
  EXPECT_THAT(stage("RandomHorizontalFlip"), refused("here that is random_flip.direction"));
  EXPECT_THAT(stage("CenterCrop: 24"), refused("here that is center_crop;"));
  EXPECT_THAT(stage("TFRecordDataset: a"), refused("here that is tfrecord;"));
  EXPECT_THAT(stage("to_tensor"), refused("here that is normalize"));
  const auto train = [](const char* yaml) {
    return ParseTrainSection(*ParseYaml(yaml, "r.yaml")).status();
  };
  EXPECT_THAT(train("train: {num_workers: 4}"), refused("here that is train.feed_threads"));
  EXPECT_THAT(train("train: {pin_memory: true}"), refused("always pinned; leave it out"));
  EXPECT_THAT(train("train: {max_epochs: 4}"), refused("here that is train.epochs"));
  EXPECT_THAT(train("train: {criterion: mse}"), refused("here that is train.loss"));
  EXPECT_THAT(train("train: {loss: mse_loss}"), refused("here that is train.loss.mse"));
  EXPECT_THAT(train("train: {loss: MSELoss}"), refused("here that is train.loss.mse"));
}

}  // namespace stoker::foreign_names_test
