#include "stoker/base/options.h"

#include <string>
#include <vector>

#include "stoker/base/registry.h"
#include "stoker/base/testing.h"

namespace stoker::options_test {

using testing::ElementsAre;

struct Batch {
  static constexpr std::string_view kName = "batch";
  static constexpr std::string_view kHelp = "Stacks elements.";
  int64_t size = 32;
  bool drop_remainder = false;
  static void Describe(OptionTable<Batch>& table) {
    table.Field("size", &Batch::size, "elements in a batch", AtLeast(1))
        .Field("drop_remainder", &Batch::drop_remainder, "leave out a last batch that is not full");
  }
};

struct Idx {
  static constexpr std::string_view kName = "idx";
  static constexpr std::string_view kHelp = "Reads IDX files.";
  std::filesystem::path images;
  std::filesystem::path labels = "labels";
  static void Describe(OptionTable<Idx>& table) {
    table.Field("images", &Idx::images, "the images")
        .Required()
        .Field("labels", &Idx::labels, "the labels");
  }
};

struct Everything {
  static constexpr std::string_view kName = "everything";
  double rate = 0.5;
  std::string mode = "fast";
  std::vector<int64_t> sizes = {1, 2};
  std::vector<double> betas = {0.9, 0.99};
  std::vector<std::string> names = {"1", "a b"};
  std::optional<int64_t> threads;
  std::optional<double> limit = 2.0;
  bool on = true;
  int64_t count = -3;
  std::string text = "true";
  std::filesystem::path path = "a/b";
  static void Describe(OptionTable<Everything>& table) {
    table.Field("rate", &Everything::rate, "", MoreThan(0))
        .Field("mode", &Everything::mode, "", OneOf{{"fast", "exact"}})
        .Field("sizes", &Everything::sizes, "", AtLeast(1))
        .Field("betas", &Everything::betas, "", Between(0, 1))
        .Field("names", &Everything::names, "")
        .Field("threads", &Everything::threads, "", Between(1, 1024))
        .Field("limit", &Everything::limit, "")
        .Field("on", &Everything::on, "")
        .Field("count", &Everything::count, "")
        .Field("text", &Everything::text, "")
        .Field("path", &Everything::path, "");
  }
};

struct Nothing {
  static constexpr std::string_view kName = "nothing";
  static constexpr std::string_view kHelp = "Does nothing.";
  static void Describe(OptionTable<Nothing>&) {}
};

ConfigNode Parsed(std::string_view text) {
  Result<ConfigNode> node = ParseYaml(text, "recipe.yaml");
  EXPECT_THAT(node, IsOk()) << text;
  return node.ok() ? *std::move(node) : ConfigNode();
}

template <typename T>
Result<T> Read(std::string_view yaml) {
  T object;
  STOKER_RETURN_IF_ERROR(ParseOptionsOf(Parsed(yaml), object));
  return object;
}

TEST(ParseOptions, TakesAMapABareValueOrNothing) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Batch named, Read<Batch>("{drop_remainder: true, size: 8}"));
  EXPECT_EQ(named.size, 8);
  EXPECT_TRUE(named.drop_remainder);
  STOKER_ASSERT_OK_AND_ASSIGN(const Batch bare, Read<Batch>("128"));
  EXPECT_EQ(bare.size, 128);
  STOKER_ASSERT_OK_AND_ASSIGN(const Batch defaults, Read<Batch>(""));
  EXPECT_EQ(defaults.size, 32);
  STOKER_ASSERT_OK_AND_ASSIGN(const Idx path, Read<Idx>("a.gz"));
  EXPECT_EQ(path.images, "a.gz");
  STOKER_ASSERT_OK(Read<Nothing>(""));
  STOKER_ASSERT_OK(Read<Nothing>("{}"));
}

TEST(ParseOptions, ErrorsSayWhereWhatAndWhatToDo) {
  const std::pair<const char*, const char*> cases[] = {
      {"{size: 8,\n  sise: 4}",
       "recipe.yaml:2:3: batch: unknown option 'sise'; did you mean 'size'?"},
      {"{colour: 4}",
       "recipe.yaml:1:2: batch: unknown option 'colour'; known are size, drop_remainder"},
      {"{size: x}", "recipe.yaml:1:8: batch.size: 'x' is not an integer"},
      {"{size: 0}", "recipe.yaml:1:8: batch.size is 0; it must be >= 1"},
      {"0", "recipe.yaml:1:1: batch.size is 0; it must be >= 1"},
      {"{size: 1.5}", "batch.size: '1.5' is not an integer"},
      {"{size: 1_000}", "batch.size: '1_000' is not an integer"},
      {"{size: 0x10}", "batch.size: '0x10' is not an integer"},
      {"{size: '8'}", "batch.size: '8' in quotes is text, not an integer"},
      {"{size: 'big'}", "batch.size: 'big' is not an integer"},
      {"{size: 9223372036854775808}", "'9223372036854775808' does not fit into 64 bits"},
      {"{size: 1e19}", "'1e19' does not fit into 64 bits"},
      {"{size: 1e999}", "'1e999' does not fit into 64 bits"},
      {"{size: [1]}", "recipe.yaml:1:8: batch.size: a list is not an integer"},
      {"{size: }", "batch.size: there is no value; give an integer or leave the option out"},
      {"[1, 2]", "recipe.yaml:1:1: batch.size: a list is not an integer"},
      {"{drop_remainder: yes}", "batch.drop_remainder: 'yes' is not true or false"},
      {"{drop_remainder: 1}", "batch.drop_remainder: '1' is not true or false"},
      {"{drop_remainder: 'true'}", "'true' in quotes is text, not true or false"},
  };
  for (const auto& [yaml, says] : cases) {
    EXPECT_THAT(Read<Batch>(yaml), FailsWith(StatusCode::kInvalidArgument, says));
  }
}

TEST(ParseOptions, ARequiredOptionMustBeThere) {
  constexpr const char* kSays = "1:1: idx: option 'images' is required (path: the images)";
  EXPECT_THAT(Read<Idx>("{labels: x}"), FailsWith(StatusCode::kInvalidArgument, kSays));
  EXPECT_THAT(Read<Idx>("{}"), FailsWith(StatusCode::kInvalidArgument, kSays));
  EXPECT_THAT(Read<Idx>("~"), FailsWith(StatusCode::kInvalidArgument, kSays));
  EXPECT_THAT(Read<Idx>("{images: }"), FailsWith(StatusCode::kInvalidArgument,
                                                 "idx.images: there is no value; give a path"));
}

TEST(ParseOptions, OptionsWhereThereAreNoneAreAnError) {
  EXPECT_THAT(Read<Nothing>("5"), FailsWith(StatusCode::kInvalidArgument,
                                            "recipe.yaml:1:1: nothing: it has no options"));
  EXPECT_THAT(Read<Nothing>("{a: 5}"),
              FailsWith(StatusCode::kInvalidArgument, "unknown option 'a'; there are none"));
}

TEST(ParseOptions, NumbersAreReadAsWritten) {
  const std::pair<const char*, int64_t> integers[] = {{"7", 7},
                                                      {"-7", -7},
                                                      {"+7", 7},
                                                      {"1e6", 1'000'000},
                                                      {"2.5e3", 2500},
                                                      {"1E2", 100},
                                                      {"2.0", 2},
                                                      {"007", 7},
                                                      {"9223372036854775807", INT64_MAX},
                                                      {"-9223372036854775808", INT64_MIN}};
  for (const auto& [text, value] : integers) {
    int64_t read = 1;
    STOKER_ASSERT_OK(ReadOption(ConfigNode::Scalar(text), read));
    EXPECT_EQ(read, value) << text;
  }
  const std::pair<const char*, double> numbers[] = {{"1e-3", 1e-3},   {".5", 0.5}, {"5.", 5},
                                                    {"-0.25", -0.25}, {"+1", 1},   {"0.1", 0.1}};
  for (const auto& [text, value] : numbers) {
    double read = 7;
    STOKER_ASSERT_OK(ReadOption(ConfigNode::Scalar(text), read));
    EXPECT_EQ(read, value) << text;
  }
  for (const char* text : {"inf", "-inf", "nan", ".inf", "1e999", "1e-999", "1,5", "0x1p3", "1 2",
                           "++1", "1e", "-", ".", "e5", ""}) {
    double number = 7;
    int64_t integer = 7;
    EXPECT_FALSE(ReadOption(ConfigNode::Scalar(text), number).ok()) << text;
    EXPECT_FALSE(ReadOption(ConfigNode::Scalar(text), integer).ok()) << text;
    EXPECT_EQ(number, 7);
    EXPECT_EQ(integer, 7);
  }
}

TEST(ParseOptions, ReadsEveryType) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Everything read,
      Read<Everything>(
          "{rate: 1e-3, mode: exact, sizes: 5, betas: [0, 1], names: [x, 7], threads: 4, "
          "limit: auto, on: false, count: 9, text: 'a b', path: /x}"));
  EXPECT_EQ(read.rate, 1e-3);
  EXPECT_EQ(read.mode, "exact");
  EXPECT_THAT(read.sizes, ElementsAre(5));
  EXPECT_THAT(read.betas, ElementsAre(0, 1));
  EXPECT_THAT(read.names, ElementsAre("x", "7"));
  EXPECT_EQ(read.threads, 4);
  EXPECT_EQ(read.limit, std::nullopt);
  EXPECT_FALSE(read.on);
  EXPECT_EQ(read.count, 9);
  EXPECT_EQ(read.text, "a b");
  EXPECT_EQ(read.path, "/x");
}

TEST(ParseOptions, ConstraintsHoldForEveryType) {
  const std::pair<const char*, const char*> cases[] = {
      {"{rate: 0}", "everything.rate is 0; it must be > 0"},
      {"{mode: exat}",
       "everything.mode is 'exat'; it must be one of: fast, exact; did you mean 'exact'?"},
      {"{mode: slow}", "everything.mode is 'slow'; it must be one of: fast, exact"},
      {"{sizes: [3, 0]}", "everything.sizes has 0 among its values; each must be >= 1"},
      {"{sizes: [3, x]}", "everything.sizes: item 2: 'x' is not an integer"},
      {"{betas: [0.5, 1.5]}", "everything.betas has 1.5 among its values; each must lie in 0..1"},
      {"{threads: 0}", "everything.threads is 0; it must lie in 1..1024"},
      {"{threads: many}", "everything.threads: 'many' is not an integer, nor auto"},
      {"{names: [{a: 1}]}", "everything.names: item 1: a map is not text"},
      {"{text: [a]}", "everything.text: a list is not text"},
      {"{path: {a: b}}", "everything.path: a map is not a path"},
  };
  for (const auto& [yaml, says] : cases) {
    EXPECT_THAT(Read<Everything>(yaml), FailsWith(StatusCode::kInvalidArgument, says));
  }
}

struct Tuned {
  static constexpr std::string_view kName = "tuned";
  std::string tune = "auto", graph = "auto";
  bool rounded = true;
  static void Describe(OptionTable<Tuned>& table) {
    table.Field("tune", &Tuned::tune, "", OneOf{{"auto", "off"}})
        .Field("graph", &Tuned::graph, "", OneOf{{"off", "on", "auto"}})
        .Field("rounded", &Tuned::rounded, "");
  }
};

TEST(ParseOptions, TakeEveryWordOfYamlForOnAndOff) {
  for (const char* off : {"off", "Off", "OFF", "no", "No", "NO", "false", "False", "FALSE"}) {
    const Result<Tuned> read = Read<Tuned>(fmt::format("{{tune: {0}, graph: {0}}}", off));
    STOKER_ASSERT_OK(read);
    EXPECT_EQ(read->tune, "off") << off;
    EXPECT_EQ(read->graph, "off") << off;
  }
  for (const char* on : {"on", "On", "ON", "yes", "Yes", "YES", "true", "True", "TRUE"}) {
    const Result<Tuned> read = Read<Tuned>(fmt::format("{{graph: {}}}", on));
    STOKER_ASSERT_OK(read);
    EXPECT_EQ(read->graph, "on") << on;
    EXPECT_THAT(Read<Tuned>(fmt::format("{{tune: {}}}", on)),
                FailsWith(StatusCode::kInvalidArgument,
                          fmt::format("tuned.tune is '{}'; it must be one of: auto, off", on)));
  }
}

TEST(ParseOptions, TakeTrueAndFalseWithCapitalsTooAndNoOtherWordForATruthValue) {
  for (const char* no : {"false", "False", "FALSE"})
    EXPECT_FALSE(Read<Tuned>(fmt::format("{{rounded: {}}}", no))->rounded) << no;
  for (const char* yes : {"true", "True", "TRUE"})
    EXPECT_TRUE(Read<Tuned>(fmt::format("{{rounded: {}}}", yes))->rounded) << yes;
  for (const char* other : {"off", "no", "fALSE", "\"False\"", "0"})
    EXPECT_THAT(Read<Tuned>(fmt::format("{{rounded: {}}}", other)),
                FailsWith(StatusCode::kInvalidArgument, "not true or false"));
}

TEST(FormatOptions, IsReadBackToTheSameOptions) {
  const Everything defaults;
  const ConfigNode written = FormatOptions(OptionsOf<Everything>(), &defaults);
  EXPECT_EQ(ToYamlLine(written),
            "{rate: 0.5, mode: fast, sizes: [1, 2], betas: [0.9, 0.99], names: [\"1\", a b], "
            "threads: auto, limit: 2, on: true, count: -3, text: \"true\", path: a/b}");
  STOKER_ASSERT_OK_AND_ASSIGN(const Everything read, Read<Everything>(ToYaml(written)));
  EXPECT_EQ(ToYaml(FormatOptions(OptionsOf<Everything>(), &read)), ToYaml(written));
  EXPECT_EQ(read.text, "true");
}

TEST(FormatOptions, KeepsEveryBitOfANumber) {
  for (const double value :
       {0.1, 1.0 / 3, 1e-300, 1.7976931348623157e308, 5e-324, -0.0, 123456789012345680.0}) {
    double read = 1;
    STOKER_ASSERT_OK(ReadOption(Parsed(ToYaml(WriteOption(value))), read));
    EXPECT_EQ(read, value);
  }
}

TEST(CheckOptions, ChecksWhatWasSetInCode) {
  Batch batch;
  EXPECT_THAT(CheckOptionsOf(batch), IsOk());
  batch.size = 0;
  EXPECT_EQ(CheckOptionsOf(batch).message(), "batch: size is 0; it must be >= 1");
  Everything everything;
  everything.rate = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(CheckOptionsOf(everything), FailsWith(StatusCode::kInvalidArgument, "rate is nan"));
}

TEST(ResolvePaths, TakesRelativePathsFromTheRoot) {
  Idx idx{.images = "a/../x.gz", .labels = "/abs"};
  ResolvePaths(OptionsOf<Idx>(), "/data", &idx);
  EXPECT_EQ(idx.images, "/data/x.gz");
  EXPECT_EQ(idx.labels, "/abs");
  Idx unrooted{.images = "x"};
  ResolvePaths(OptionsOf<Idx>(), "", &unrooted);
  EXPECT_EQ(unrooted.images, "x");
}

TEST(Option, DescribesItselfForHelp) {
  const std::vector<Option>& options = OptionsOf<Everything>();
  EXPECT_EQ(options[0].type, "number");
  EXPECT_EQ(options[0].constraint, "> 0");
  EXPECT_EQ(options[1].constraint, "one of: fast, exact");
  EXPECT_EQ(options[3].constraint, "0..1");
  EXPECT_EQ(options[3].type, "list of numbers");
  EXPECT_EQ(options[5].type, "integer or auto");
  EXPECT_EQ(RangeText({.high = 3}), "<= 3");
}

// A registry of things that print themselves.
Registry<std::string, int> TestRegistry() {
  Registry<std::string, int> registry("operator");
  registry.AddKind<Batch>("operator", [](const Batch& batch, int input) -> Result<std::string> {
    return fmt::format("batch {} of {}", batch.size, input);
  });
  registry.AddKind<Idx>(
      "source", [](const Idx& idx, int) -> Result<std::string> { return idx.images.string(); });
  registry.AddKind<Nothing>("operator", [](const Nothing&, int) -> Result<std::string> {
    return Unavailable("nothing to be had");
  });
  return registry;
}

TEST(Registry, BuildsWhatTheRecipeNames) {
  const auto registry = TestRegistry();
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, registry.Parse(Parsed("batch: 4")));
  EXPECT_EQ(batch.name, "batch");
  EXPECT_EQ(ToYamlLine(batch.node), "{batch: {size: 4, drop_remainder: false}}");
  EXPECT_EQ(*batch.build(7), "batch 4 of 7");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto bare, registry.Parse(Parsed("batch")));
  EXPECT_EQ(*bare.build(1), "batch 32 of 1");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto idx, registry.Parse(Parsed("idx: a.gz"), "/data"));
  EXPECT_EQ(*idx.build(0), "/data/a.gz");
  EXPECT_EQ(ToYamlLine(idx.node), "{idx: {images: a.gz, labels: labels}}");  // as written
  STOKER_ASSERT_OK_AND_ASSIGN(const auto nothing, registry.Parse(Parsed("nothing:")));
  EXPECT_THAT(nothing.build(0), FailsWith(StatusCode::kUnavailable, "nothing to be had"));
}

TEST(Registry, ErrorsNameTheNearestKind) {
  const auto registry = TestRegistry();
  const std::pair<const char*, const char*> cases[] = {
      {"bach: 3", "recipe.yaml:1:1: unknown operator 'bach'; did you mean 'batch'?"},
      {"zebra", "recipe.yaml:1:1: unknown operator 'zebra'; known are batch, idx, nothing"},
      {"{batch: 3, size: 4}",
       "wanted the name of the operator, or `name: {options}`; found a map with the keys 'batch' "
       "and 'size'"},
      {"[batch]", "recipe.yaml:1:1: wanted the name of the operator"},
      {"", "found nothing"},
      {"{}", "found a map"},
      {"batch: {sizes: 3}", "recipe.yaml:1:9: batch: unknown option 'sizes'; did you mean 'size'?"},
      {"idx", "recipe.yaml:1:1: idx: option 'images' is required"},
  };
  for (const auto& [yaml, says] : cases) {
    EXPECT_THAT(registry.Parse(Parsed(yaml)), FailsWith(StatusCode::kInvalidArgument, says));
  }
}

TEST(Registry, DescribesItsKinds) {
  const std::vector<KindDescription> kinds = TestRegistry().Describe();
  ASSERT_EQ(kinds.size(), 3u);
  EXPECT_EQ(kinds[0].name, "batch");
  EXPECT_EQ(kinds[0].help, "Stacks elements.");
  EXPECT_EQ(kinds[1].group, "source");
  EXPECT_EQ(kinds[0].options[1].name, "drop_remainder");
  EXPECT_EQ(ToYamlLine(kinds[0].defaults), "{size: 32, drop_remainder: false}");
  EXPECT_TRUE(kinds[1].options[0].required);
}

}  // namespace stoker::options_test
