#include "stoker/base/testing.h"
#include "stoker/run/input_section_internal.h"

namespace stoker::input_section_test {

TEST(TakeInputs, ReadsNamesAndFieldsAndLeavesTheFirstField) {
  STOKER_ASSERT_OK_AND_ASSIGN(ConfigNode section,
                              ParseYaml("input: {picture: image, words: text}", "r.yaml"));
  const ConfigNode written = *section.Find("input");
  std::vector<InputField> inputs;
  STOKER_ASSERT_OK(TakeInputs(section, inputs));
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[1].name, "words");
  EXPECT_EQ(inputs[1].field, "text");
  EXPECT_EQ(section.Find("input")->scalar, "image");
  EXPECT_EQ(ToYamlLine(FilledInputs(inputs, "image")), ToYamlLine(written));
}

TEST(TakeInputs, OrdersInputsByNameAndKeepsWhichIsTheMainOne) {
  std::vector<InputField> inputs;
  STOKER_ASSERT_OK_AND_ASSIGN(ConfigNode section, ParseYaml("input: {c: z, a: x, b: y}", "r.yaml"));
  STOKER_ASSERT_OK(TakeInputs(section, inputs));
  EXPECT_EQ(section.Find("input")->scalar, "z");
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs[0].name + inputs[1].name + inputs[2].name, "abc");
  ConfigNode again = ConfigNode::Map({{"input", {}, FilledInputs(inputs, "z")}});
  EXPECT_EQ(ToYamlLine(again), "{input: {c: z, a: x, b: y}}");
}

TEST(TakeInputs, LeavesASingleFieldAsItIs) {
  STOKER_ASSERT_OK_AND_ASSIGN(ConfigNode section, ParseYaml("input: x", "r.yaml"));
  std::vector<InputField> inputs;
  STOKER_ASSERT_OK(TakeInputs(section, inputs));
  EXPECT_TRUE(inputs.empty());
  EXPECT_EQ(section.Find("input")->scalar, "x");
}

TEST(TakeInputs, SaysWhereAMistakeStandsAndTakesTheKeyOut) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"input: {}", "r.yaml:1:8: train.input is an empty map"},
      {"input: {'a.b': x}", "r.yaml:1:9: train.input: 'a.b' is no name of an input"},
      {"input: {a: [x, y]}", "r.yaml:1:12: train.input.a: "},
      {"input: {a: ''}", "r.yaml:1:12: train.input.a: is empty"},
  };
  for (const auto& [yaml, message] : mistakes) {
    STOKER_ASSERT_OK_AND_ASSIGN(ConfigNode section, ParseYaml(yaml, "r.yaml"));
    std::vector<InputField> inputs;
    EXPECT_THAT(TakeInputs(section, inputs), FailsWith(StatusCode::kInvalidArgument, message));
    EXPECT_EQ(section.Find("input"), nullptr);
  }
}

}  // namespace stoker::input_section_test
