#include "stoker/base/config.h"

#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "stoker/base/config_parse.h"
#include "stoker/base/problems.h"
#include "stoker/base/random.h"
#include "stoker/base/testing.h"

namespace stoker::config_test {

using Kind = ConfigNode::Kind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

ConfigNode Parsed(std::string_view text) {
  Result<ConfigNode> node = ParseYaml(text, "recipe.yaml");
  EXPECT_THAT(node, IsOk()) << text;
  return node.ok() ? *std::move(node) : ConfigNode();
}

// Kind, text and quotes, down the tree; stricter than Differences().
bool SameTree(const ConfigNode& a, const ConfigNode& b) {
  if (a.kind != b.kind || a.scalar != b.scalar || a.quoted != b.quoted ||
      a.items.size() != b.items.size() || a.entries.size() != b.entries.size()) {
    return false;
  }
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!SameTree(a.items[i], b.items[i])) return false;
  }
  for (size_t i = 0; i < a.entries.size(); ++i) {
    if (a.entries[i].key != b.entries[i].key) return false;
    if (!SameTree(a.entries[i].value, b.entries[i].value)) return false;
  }
  return true;
}

constexpr std::string_view kRecipe = R"(# A comment
data:
  root: /usr/share/data
  train:
    - idx: {images: a.gz, labels: b.gz}
    - shuffle
    - normalize: {mean: 0.286, std: 0.353}
    - batch: {size: 128, drop_remainder: true}
  eval:
    - batch: 1000
model: {convnet: {classes: 10}}
train:
  epochs: 3
  optimizer: {adamw: {weight_decay: 0.01}}
  schedule: one_cycle
)";

TEST(ParseYaml, KeepsOrderPlacesAndText) {
  const ConfigNode root = Parsed(kRecipe);
  ASSERT_EQ(root.entries.size(), 3u);
  EXPECT_EQ(root.entries[0].key, "data");
  const ConfigNode& train = *root.Find("data")->Find("train");
  ASSERT_EQ(train.kind, Kind::kList);
  const ConfigNode& size = *train.items[3].Find("batch")->Find("size");
  EXPECT_EQ(size.scalar, "128");
  EXPECT_EQ(size.location.ToString(), "recipe.yaml:8:21");
  EXPECT_EQ(train.items[3].Find("batch")->entries[1].key_location.ToString(), "recipe.yaml:8:26");
  EXPECT_EQ(train.items[1].location.ToString(), "recipe.yaml:6:7");
  EXPECT_EQ(root.Find("nothing"), nullptr);
  EXPECT_EQ(size.Find("size"), nullptr);
}

TEST(ParseYaml, TellsTextNumbersAndNothingApart) {
  const ConfigNode root = Parsed("[3, '3', \"x\", true, ~, null, '', plain text, [], {}, -1e-3]");
  std::vector<std::string_view> kinds;
  for (const ConfigNode& item : root.items) kinds.push_back(item.KindName());
  EXPECT_THAT(kinds, ElementsAre("a number", "text", "text", "true or false", "nothing", "nothing",
                                 "text", "text", "a list", "a map", "a number"));
  EXPECT_EQ(Parsed("").kind, Kind::kNull);
  EXPECT_EQ(Parsed("# only a comment\n").kind, Kind::kNull);
  EXPECT_EQ(Parsed("a:\nb: 1").Find("a")->kind, Kind::kNull);
  EXPECT_EQ(Parsed("a: |\n  two\n  lines\n").Find("a")->scalar, "two\nlines\n");
}

TEST(ParseYaml, AliasesAreCopies) {
  const ConfigNode root = Parsed("a: &x {n: 1}\nb: *x\nc: &y 5\nd: [*y, *x]\n");
  EXPECT_EQ(root.Find("b")->Find("n")->scalar, "1");
  EXPECT_EQ(root.Find("d")->items[0].scalar, "5");
  EXPECT_EQ(root.Find("d")->items[1].Find("n")->scalar, "1");
}

std::string Repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

struct BrokenYaml {
  const char* text;
  const char* says;
};

TEST(ParseYaml, BrokenInputIsRefusedWithItsPlace) {
  const BrokenYaml cases[] = {
      {"a: 1\nb: 2\na: 3\n", "r.yaml:3:1: the key 'a' is already on line 1; remove one"},
      {"x: {a: 1, a: 2}\n", "r.yaml:1:11: the key 'a' is already on line 1"},
      {"a: 1\n'a': 2\n", "r.yaml:2:1: the key 'a' is already"},
      {"a: 1\n---\nb: 2\n", "r.yaml:2:1: a second document"},
      {"a: !!int 3\n", "r.yaml:1:4: the tag"},
      {"a: !mine {b: 1}\n", "r.yaml:1:4: the tag '!mine' is not supported"},
      {"? [1, 2]\n: x\n", "r.yaml:1:3: a list or map cannot be a key"},
      {"~: 1\n", "r.yaml:1:1: a key is missing"},
      {"a: &x 1\n*x : 2\n", "r.yaml:2:1: an alias cannot be a key"},
      {"a: &x {b: 1}\nc:\n  <<: *x\n", "r.yaml:3:3: merge keys"},
      {"a: &x [*x]\n", "r.yaml:1:8: this alias stands inside"},
      {"a: *nowhere\n", "r.yaml:1:4: this is not YAML"},
      {"a: [1, 2\n", "this is not YAML"},
      {"a: {b: 1\nc: 2\n", "this is not YAML"},
      {"a: 'open\n", "r.yaml:1:4: the quotes that open here are closed nowhere"},
      {"a: \"open\nb: 1\n\n", "r.yaml:1:4: the quotes that open here are closed nowhere"},
      {"a: it's\nb: 'it''s'  # don't\nc: [\"\\\"\", 'x]\nd: 1\n",
       "r.yaml:3:11: the quotes that open"},
      {"a: rock 'n roll\nb: x:'y\nc: \"open\n", "r.yaml:3:4: the quotes that open"},
      {"- 'open\n", "r.yaml:1:3: the quotes that open"},
      {"a: b: c\n", "r.yaml:1:5: this is not YAML"},
      {"a:\n\t- b\n", "r.yaml:2:2: the line begins with a tab"},
      {"a:\n  b: 1\n\tc: 2\n", "the line begins with a tab, which YAML does not allow"},
      {"&k a: 1\n", "an anchor on a key"},
  };
  for (const auto& [text, says] : cases) {
    EXPECT_THAT(ParseYaml(text, "r.yaml"), FailsWith(StatusCode::kInvalidArgument, says)) << text;
  }
}

TEST(ParseYaml, EveryRepeatedKeyIsSaidAndWhatElseStandsThereIsRead) {
  constexpr std::string_view kText = "a: 1\nb: {c: 2, c: {d: 1}}\na: [3]\ne: 4\na: 5\n";
  STOKER_ASSERT_OK_AND_ASSIGN(const ParsedYaml parsed, ParseYamlPastRepeats(kText, "r.yaml"));
  EXPECT_THAT(
      ProblemsIn(parsed.repeated),
      testing::ElementsAre(testing::StartsWith("r.yaml:2:11: the key 'c' is already on line 2"),
                           testing::StartsWith("r.yaml:3:1: the key 'a' is already on line 1"),
                           testing::StartsWith("r.yaml:5:1: the key 'a' is already on line 1")));
  EXPECT_EQ(ToYamlLine(parsed.root), "{a: 1, b: {c: 2}, e: 4}");
  EXPECT_EQ(ProblemsIn(ParseYaml(kText, "r.yaml").status()), ProblemsIn(parsed.repeated));
  // What is no YAML after it is said too, and endless repeats are not.
  EXPECT_THAT(
      ProblemsIn(ParseYaml("a: 1\na: 2\nb: [\n", "r.yaml").status()),
      testing::ElementsAre(testing::HasSubstr("'a' is already"), testing::HasSubstr("not YAML")));
  EXPECT_EQ(ProblemsIn(ParseYaml(Repeated("a: 1\n", 5000), "r.yaml").status()).size(), 101u);
}

TEST(ParseYaml, HostileSizesAreRefusedBeforeTheyCost) {
  const auto fails = [](std::string_view says) {
    return FailsWith(StatusCode::kInvalidArgument, std::string(says));
  };
  EXPECT_THAT(ParseYaml(std::string(64, '[') + std::string(64, ']'), "r"), IsOk());
  EXPECT_THAT(ParseYaml(std::string(65, '[') + std::string(65, ']'), "r"),
              fails("more than 64 deep"));
  EXPECT_THAT(ParseYaml("- " + std::string(100'000, '['), "r"), Not(IsOk()));
  EXPECT_THAT(ParseYaml(Repeated("- ", 100'000), "r"), fails("more than 64 deep"));
  EXPECT_THAT(ParseYaml(std::string(5 << 20, ' '), "r"), fails("5242880 bytes are no recipe"));
  EXPECT_THAT(ParseYaml(std::string(201, 'k') + ": 1", "r"), fails("a key of 201 bytes"));
  EXPECT_THAT(ParseYaml(fmt::format("[{}1]", Repeated("1,", 100'000)), "r"),
              fails("more than 100000 values"));
  // A billion laughs: nine lines that would be 10^9 values.
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += fmt::format("a{0}: &a{0} [*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1}]\n", i,
                        i - 1);
  }
  EXPECT_THAT(ParseYaml(bomb, "r"), fails("aliases counted in full"));
  // Depth that only aliases make.
  std::string deep = "a0: &a0 [[[[[[[[x]]]]]]]]\n";
  for (int i = 1; i < 10; ++i) deep += fmt::format("a{0}: &a{0} [[[[[[[[*a{1}]]]]]]]]\n", i, i - 1);
  EXPECT_THAT(ParseYaml(deep, "r"), fails("more than 64 deep"));
}

TEST(ToYaml, PutsKeysOnLinesAndOptionsInOne) {
  EXPECT_EQ(ToYaml(Parsed(kRecipe)),
            "data:\n"
            "  root: /usr/share/data\n"
            "  train:\n"
            "    - idx: {images: a.gz, labels: b.gz}\n"
            "    - shuffle\n"
            "    - normalize: {mean: 0.286, std: 0.353}\n"
            "    - batch: {size: 128, drop_remainder: true}\n"
            "  eval:\n"
            "    - batch: 1000\n"
            "model:\n"
            "  convnet: {classes: 10}\n"
            "train:\n"
            "  epochs: 3\n"
            "  optimizer: {adamw: {weight_decay: 0.01}}\n"
            "  schedule: one_cycle\n");
  EXPECT_EQ(ToYamlLine(*Parsed(kRecipe).Find("train")),
            "{epochs: 3, optimizer: {adamw: {weight_decay: 0.01}}, schedule: one_cycle}");
}

TEST(ToYaml, OpensWhatIsTooLongForALine) {
  const std::string path(60, 'x');
  const std::string text =
      ToYaml(Parsed("d:\n - idx: {images: " + path + ", labels: " + path + "}"));
  EXPECT_EQ(text, "d:\n  - idx:\n      images: " + path + "\n      labels: " + path + "\n");
}

// Texts that YAML would read as something else without quotes.
const std::vector<std::string> kAwkward = {"",
                                           " ",
                                           "~",
                                           "null",
                                           "Null",
                                           "true",
                                           "1",
                                           "-1.5e3",
                                           "0x10",
                                           ".5",
                                           "1_000",
                                           "-",
                                           "--",
                                           "---",
                                           "...",
                                           "....",
                                           ".",
                                           "a: b",
                                           "a:b",
                                           ":",
                                           "a #b",
                                           "#",
                                           "a#b",
                                           "[",
                                           "]",
                                           "{a}",
                                           "a,b",
                                           "&a",
                                           "*a",
                                           "!a",
                                           "|",
                                           ">",
                                           "%a",
                                           "@a",
                                           "`a",
                                           "'",
                                           "\"",
                                           "it's",
                                           "\\",
                                           "\\n",
                                           "\n",
                                           "a\nb\n",
                                           "\t",
                                           "\r\n",
                                           " a",
                                           "a ",
                                           "a  b",
                                           "caf\xc3\xa9",
                                           "\xe2\x80\xa8",
                                           "\xf0\x9f\x98\x80",
                                           "\xef\xbb\xbf",
                                           std::string("\0", 1),
                                           "\x01\x7f",
                                           "\x04",
                                           "\xc2\x85",
                                           "?",
                                           "? a",
                                           "- a",
                                           "=",
                                           "<<",
                                           "../data",
                                           "s3://bucket/key",
                                           "+1",
                                           "+",
                                           "inf",
                                           ".inf",
                                           ".nan",
                                           "yes",
                                           "12:30",
                                           "a\\\"b",
                                           std::string(1500, 'x'),
                                           std::string(1500, '"')};

TEST(ToYaml, AwkwardTextSurvivesAsValueAndKey) {
  for (const std::string& text : kAwkward) {
    const ConfigNode quoted = ConfigNode::Scalar(text, /*quoted=*/true);
    for (const ConfigNode& node :
         {quoted, ConfigNode::List({quoted, quoted}), ConfigNode::Map({{"k", {}, quoted}}),
          ConfigNode::Map({{"k", {}, ConfigNode::Map({{"l", {}, quoted}, {"m", {}, quoted}})}})}) {
      EXPECT_TRUE(SameTree(Parsed(ToYaml(node)), node)) << ToYaml(node);
      EXPECT_TRUE(SameTree(Parsed(ToYamlLine(node)), node)) << ToYamlLine(node);
    }
    if (text.size() > 200) continue;
    const ConfigNode inner = ConfigNode::Map({{text, {}, quoted}});
    for (const ConfigNode& node :
         {inner, ConfigNode::List({inner}), ConfigNode::Map({{"k", {}, inner}})}) {
      EXPECT_TRUE(SameTree(Parsed(ToYaml(node)), node)) << ToYaml(node);
    }
  }
}

TEST(ToYaml, TextWithoutQuotesKeepsItsTextHoweverItIsWritten) {
  for (const std::string& text : kAwkward) {
    const ConfigNode node = ConfigNode::Map({{"k", {}, ConfigNode::Scalar(text)}});
    const ConfigNode back = Parsed(ToYaml(node));
    EXPECT_EQ(back.Find("k")->scalar, text);
    EXPECT_THAT(Differences(node, back), IsEmpty()) << text;
  }
}

ConfigNode RandomNode(Rng& rng, int depth) {
  const uint64_t kind = rng.Below(depth >= 5 ? 3 : 5);
  if (kind == 0) return ConfigNode();
  if (kind <= 2) {
    if (rng.Bernoulli(0.3)) return ConfigNode::Scalar(std::to_string(rng.Below(1000)));
    return ConfigNode::Scalar(kAwkward[rng.Below(kAwkward.size())], /*quoted=*/true);
  }
  const uint64_t size = rng.Below(4);
  if (kind == 3) {
    std::vector<ConfigNode> items;
    for (uint64_t i = 0; i < size; ++i) items.push_back(RandomNode(rng, depth + 1));
    return ConfigNode::List(std::move(items));
  }
  std::vector<ConfigNode::Entry> entries;
  for (uint64_t i = 0; i < size; ++i) {
    const std::string_view key = kAwkward[rng.Below(kAwkward.size())];
    entries.push_back({fmt::format("{}{}", key.substr(0, 50), i), {}, RandomNode(rng, depth + 1)});
  }
  return ConfigNode::Map(std::move(entries));
}

TEST(ToYaml, RandomTreesAreReadBackEqual) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed, 0, 0, 0);
    const ConfigNode node = RandomNode(rng, 0);
    ASSERT_TRUE(SameTree(Parsed(ToYaml(node)), node)) << "seed " << seed << "\n" << ToYaml(node);
    ASSERT_TRUE(SameTree(Parsed(ToYamlLine(node)), node)) << "seed " << seed;
  }
}

TEST(ConfigLocation, SaysWhereOrThatThereIsNoPlace) {
  const auto file = std::make_shared<const std::string>("r.yaml");
  EXPECT_EQ((ConfigLocation{file, 3, 4}).ToString(), "r.yaml:3:4");
  EXPECT_EQ((ConfigLocation{file, 0, 0}).ToString(), "r.yaml");
  EXPECT_EQ(ConfigLocation{}.ToString(), "(set in code)");
}

TEST(CheckKeys, NamesThePlaceTheOwnerAndWhatToDo) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode node, ParseYaml("train: 1\nevla: 2\n", "r.yaml"));
  EXPECT_THAT(CheckKeys(node, "data", "key", {"train", "evla"}), IsOk());
  const std::pair<Status, const char*> kCases[] = {
      {CheckKeys(node, "data", "key", {"train", "eval"}),
       "r.yaml:2:1: data: unknown key 'evla'; did you mean 'eval'?"},
      {CheckKeys(node, "data", "key", {"train", "classes"}),
       "r.yaml:2:1: data: unknown key 'evla'; known are train, classes"},
      {CheckKeys(node, "", "section", {"train", "data"}),
       "r.yaml:2:1: unknown section 'evla'; known are train, data"},
      {CheckKeys(node, "nothing", "option", {}),
       "r.yaml:1:1: nothing: unknown option 'train'; there are none\n"
       "r.yaml:2:1: nothing: unknown option 'evla'; there are none"},
  };
  for (const auto& [status, says] : kCases) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(fmt::format("{}", fmt::join(ProblemsIn(status), "\n")), says);
  }
}

TEST(NearestName, SuggestsTyposAndNothingElse) {
  const std::vector<std::string> names = {"size", "drop_remainder", "weight_decay", "x"};
  EXPECT_EQ(NearestName("sise", names), "size");
  EXPECT_EQ(NearestName("szie", names), "size");  // neighbours swapped: one edit
  EXPECT_EQ(NearestName("siz", names), "size");
  EXPECT_EQ(NearestName("sizes", names), "size");
  EXPECT_EQ(NearestName("drop_remaindr", names), "drop_remainder");
  EXPECT_EQ(NearestName("weight-decays", names), "weight_decay");
  EXPECT_EQ(NearestName("shuffle", names), "");
  EXPECT_EQ(NearestName("saze_", names), "");
  EXPECT_EQ(NearestName("y", names), "");  // one edit, but nothing in common
  EXPECT_EQ(NearestName("", names), "");
  EXPECT_EQ(NearestName("size", {}), "");
}

TEST(NameAdvice, KnowsANameByTheFirstLettersOfItsWords) {
  const std::vector<std::string> names = {"bce", "cross_entropy", "mse", "smooth_l1", "soft_loss"};
  EXPECT_EQ(NameAdvice("ce", names), "did you mean 'cross_entropy'?");
  EXPECT_EQ(NameAdvice("bc", names), "did you mean 'bce'?");
  // Two have these letters.
  EXPECT_THAT(NameAdvice("sl", names), testing::Not(testing::HasSubstr("smooth_l1'?")));
}

}  // namespace stoker::config_test
