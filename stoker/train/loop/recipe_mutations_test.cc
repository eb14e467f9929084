// Recipes in which one value is wrong: whatever refuses it, and however late, says where it stands.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/problems.h"
#include "stoker/data/options/registry.h"
#include "stoker/train/loop/trainer.h"
#include "stoker/train/loop/trainer_testing.h"

namespace stoker::recipe_mutations_test {

using Path = std::vector<size_t>;  // of entries or items, from the root down

// In block style, so that every value stands on a line of its own.
void WriteBlock(const ConfigNode& node, int indent, std::string& out) {
  const std::string margin(static_cast<size_t>(indent), ' ');
  for (const ConfigNode::Entry& entry : node.entries) {
    out += margin + entry.key + ":";
    const bool nested = !entry.value.entries.empty() || !entry.value.items.empty();
    out += nested ? "\n" : " " + ToYamlLine(entry.value) + "\n";
    if (nested) WriteBlock(entry.value, indent + 2, out);
  }
  for (const ConfigNode& item : node.items) {
    const bool nested = !item.entries.empty() || !item.items.empty();
    out += margin + "-" + (nested ? "\n" : " " + ToYamlLine(item) + "\n");
    if (nested) WriteBlock(item, indent + 2, out);
  }
}

ConfigNode& At(ConfigNode& root, const Path& path) {
  ConfigNode* node = &root;
  for (const size_t i : path)
    node = node->entries.empty() ? &node->items[i] : &node->entries[i].value;
  return *node;
}

std::string NameOf(const ConfigNode& root, const Path& path) {
  std::string name;
  const ConfigNode* node = &root;
  for (const size_t i : path) {
    name += (name.empty() ? "" : ".") +
            (node->entries.empty() ? std::to_string(i) : node->entries[i].key);
    node = node->entries.empty() ? &node->items[i] : &node->entries[i].value;
  }
  return name;
}

// All that stands below a node.
void AddPaths(const ConfigNode& node, const Path& path, std::vector<Path>& paths) {
  const size_t below = node.entries.size() + node.items.size();
  for (size_t i = 0; i < below; ++i) {
    Path deeper = path;
    deeper.push_back(i);
    paths.push_back(deeper);
    AddPaths(node.entries.empty() ? node.items[i] : node.entries[i].value, deeper, paths);
  }
}

// What a value may be replaced by. None makes a model or a batch that is large.
const std::vector<std::string>& Replacements() {
  static const std::vector<std::string> all = {"-1",
                                               "0",
                                               "97",
                                               "1e-17",
                                               "1e308",
                                               "9223372036854775807",
                                               ".nan",
                                               ".inf",
                                               "''",
                                               "a word",
                                               "true",
                                               "null",
                                               "[]",
                                               "{}",
                                               "[1, [2]]",
                                               "[a, a]",
                                               "{a: {b: 1}}",
                                               "\"\\e[2J\\n\"",
                                               std::string(5000, 'x')};
  return all;
}

class RecipeMutations : public testing::Test {
 protected:
  // Loads the recipe and trains one step of it.
  Status Train() {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, LoadRecipe(problem_ / "recipe.yaml"));
    STOKER_ASSIGN_OR_RETURN(const auto trainer,
                            Trainer::Create(std::move(recipe), problem_ / "run"));
    Watcher watcher;
    const Status ran = trainer->Run(&watcher, &watcher.stop).status();
    return watcher.steps > 0 ? OkStatus() : ran;  // what happens later is no refusal
  }

  Status TrainTree(const ConfigNode& root) {
    std::string text;
    WriteBlock(root, 0, text);
    WriteFileForTest(problem_ / "recipe.yaml", text);
    const Status status = Train();
    std::filesystem::remove_all(problem_ / "run");
    return status;
  }

  // What is refused together with the value: the stage of a pipeline, the key of a section. The
  // root of the data shows only in what is read below it.
  static Path UnitOf(const ConfigNode& root, const Path& path) {
    const std::string& section = root.entries[path[0]].key;
    if (section == "model") return {path[0]};
    const std::string& key = root.entries[path[0]].value.entries[path[1]].key;
    if (section == "data" && key == "root") return {path[0]};
    const bool stage = section == "data" && path.size() > 2 && key != "classes";
    return {path.begin(), path.begin() + (stage ? 3 : 2)};
  }

  // The first and last line of a value, its key's included, as they stand in the file.
  std::pair<int, int> LinesOf(const Path& path) const {
    ConfigNode root =
        *ParseYaml(ReadFileForTest(problem_ / "recipe.yaml"), problem_ / "recipe.yaml");
    Path above = path;
    above.pop_back();
    const ConfigNode& parent = At(root, above);
    const int first = parent.entries.empty() ? parent.items[path.back()].location.line
                                             : parent.entries[path.back()].key_location.line;
    std::vector<Path> below = {path};
    AddPaths(At(root, path), path, below);
    int last = first;
    for (const Path& each : below) last = std::max(last, At(root, each).location.line);
    return {first, last};
  }

  // Whether the message names a line within them.
  bool NamesLine(const std::string& message, std::pair<int, int> lines) const {
    const std::string name = fmt::format("{}:", problem_ / "recipe.yaml");
    for (size_t at = message.find(name); at != std::string::npos; at = message.find(name, at + 1)) {
      const int line = std::atoi(message.c_str() + at + name.size());
      if (line >= lines.first && line <= lines.second) return true;
    }
    return false;
  }

  // What a refusal lacks; empty if nothing.
  std::string LackOf(const Status& status, const ConfigNode& root, const Path& path) const {
    for (const std::string& message : ProblemsIn(status)) {
      const bool placed = message.find("recipe.yaml:") != std::string::npos;
      const bool plain = message.find("(set in code)") == std::string::npos &&
                         message.find("std::") == std::string::npos && message.size() < 2000;
      if (!placed || !plain) return message;
    }
    if (status.code() == StatusCode::kInternal) return status.ToString();
    // What a pipeline no longer has is missed where it is asked for.
    const bool missed =
        status.message().find("train.target: there is no field") != std::string::npos;
    const auto lines = LinesOf(UnitOf(root, path));
    // What a pipeline gives as a whole stands at its key.
    const auto above = path.size() > 2 ? LinesOf({path[0], path[1]}) : lines;
    if (NamesLine(status.message(), {above.first, above.first})) return "";
    if (missed || NamesLine(status.message(), lines)) return "";
    return fmt::format("not in lines {} to {}: {}", lines.first, lines.second, status.message());
  }

  // Puts each of the replacements in the place of each value below `section`.
  void MutateBelow(const ConfigNode& root, const Path& section) {
    STOKER_ASSERT_OK(TrainTree(root));
    ConfigNode copy = root;
    std::vector<Path> paths;
    AddPaths(At(copy, section), section, paths);
    int refused = 0;
    for (const Path& path : paths) {
      for (const std::string& text : Replacements()) {
        ConfigNode wrong = root;
        At(wrong, path) = *ParseYaml("a: " + text, "value")->Find("a");
        const Status status = TrainTree(wrong);
        if (status.ok()) continue;
        ++refused;
        EXPECT_EQ(LackOf(status, wrong, path), "")
            << NameOf(root, path) << ": " << text.substr(0, 30);
      }
    }
    EXPECT_GT(refused, std::ssize(paths));
  }

  ConfigNode Base(const std::vector<std::string>& set = {}) {
    ConfigNode root = problem_.Load(set)->Filled();
    for (const char* assignment : {"train.max_steps=1", "train.tune=off"}) {
      EXPECT_TRUE(SetByPath(root, assignment).ok());
    }
    return root;
  }

  SmallProblem problem_;
};

TEST_F(RecipeMutations, OfTheTrainSectionSayWhereTheValueStands) {
  const ConfigNode root = Base();
  ASSERT_EQ(root.entries[2].key, "train");
  MutateBelow(root, {2});
}
TEST_F(RecipeMutations, OfTheDataSectionSayWhereTheValueStands) { MutateBelow(Base(), {0}); }
TEST_F(RecipeMutations, OfTheModelSectionSayWhereTheValueStands) { MutateBelow(Base(), {1}); }

// Every kind of these, with its own options.
class RecipeMutationsOfKinds : public RecipeMutations {
 protected:
  //   others  assignments that the kind needs
  //   listed  the key has a list of them
  template <typename R>
  void MutateKinds(
      std::string_view key,
      const std::function<std::vector<std::string>(const std::string& kind)>& others =
          [](const std::string&) { return std::vector<std::string>(); },
      bool listed = false) {
    for (const KindDescription& kind : R::Known().Describe()) {
      SCOPED_TRACE(kind.name);
      std::string options;
      for (const Option& option : kind.options) {
        if (option.required) options += (options.empty() ? "" : ", ") + option.name + ": 1";
      }
      std::vector<std::string> set = others(kind.name);
      const std::string one = fmt::format("{{{}: {{{}}}}}", kind.name, options);
      set.push_back(fmt::format("train.{}={}", key, listed ? "[" + one + "]" : one));
      const ConfigNode root = Base(set);
      const auto& entries = root.entries[2].value.entries;
      const auto at = std::ranges::find(entries, key, &ConfigNode::Entry::key);
      MutateBelow(root, {2, static_cast<size_t>(at - entries.begin())});
    }
  }
};
TEST_F(RecipeMutationsOfKinds, OfEveryOptimizerSayWhereTheValueStands) {
  MutateKinds<OptimizerRegistry>("optimizer");
}
TEST_F(RecipeMutationsOfKinds, OfEveryScheduleSayWhereTheValueStands) {
  MutateKinds<ScheduleRegistry>("schedule");
}
TEST_F(RecipeMutationsOfKinds, OfEveryLossSayWhereTheValueStands) {
  MutateKinds<LossRegistry>("loss", [](const std::string& loss) -> std::vector<std::string> {
    constexpr std::string_view kOfClasses[] = {"cross_entropy", "focal", "bce", "mse"};
    if (std::ranges::find(kOfClasses, loss) != std::end(kOfClasses)) return {};
    return {"data.classes=[]", "model.mlp.classes=1"};
  });
}
TEST_F(RecipeMutationsOfKinds, OfEveryCallbackSayWhereTheValueStands) {
  MutateKinds<CallbackRegistry>(
      "callbacks", [](const std::string&) { return std::vector<std::string>(); }, /*listed=*/true);
}

// What cannot be trained here is read, not built: every option of every kind refuses what it cannot
// be with its line.
template <typename R>
void ParseWrongOptions() {
  for (const KindDescription& kind : R::Known().Describe()) {
    for (const Option& option : kind.options) {
      for (const std::string& text : Replacements()) {
        const std::string yaml = fmt::format("\n\n{}:\n  {}: {}\n", kind.name, option.name, text);
        const Status status = R::Known().Parse(*ParseYaml(yaml, "r.yaml")).status();
        for (const std::string& message : ProblemsIn(status)) {
          EXPECT_THAT(message, testing::AnyOf(testing::StartsWith("r.yaml:4:"),
                                              testing::StartsWith("r.yaml:3:")));
          EXPECT_LT(message.size(), 1000u);
        }
      }
    }
  }
}
TEST(RecipeMutationsAsRead, OfEveryKindSayWhereTheValueStands) {
  ParseWrongOptions<ModelRegistry>();
  ParseWrongOptions<LossRegistry>();
  ParseWrongOptions<OptimizerRegistry>();
  ParseWrongOptions<ScheduleRegistry>();
  ParseWrongOptions<CallbackRegistry>();
  ParseWrongOptions<OperatorRegistry>();
}

}  // namespace stoker::recipe_mutations_test
