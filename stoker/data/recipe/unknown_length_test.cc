#include "stoker/data/recipe/unknown_length.h"

#include <gmock/gmock.h>

#include "stoker/base/testing.h"
#include "stoker/data/options/registry.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/gzip.h"

namespace stoker::unknown_length_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class ExplainUnknownLengthTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string rows = "x,label\n1,0\n2,1\n3,0\n";
    STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "a.csv", rows));
    STOKER_ASSERT_OK(
        WriteFileAtomically(dir_ / "a.csv.gz", *GzipCompress(std::as_bytes(std::span(rows)))));
  }

  // Of the pipeline in these lines of YAML, whose length must be unknown.
  UnknownLength Explain(const std::string& yaml) {
    const auto list = ParseYaml(yaml, "r.yaml");
    EXPECT_THAT(list, IsOk());
    ConfigNode filled;
    const auto dataset = BuildPipeline(*list, dir_ / "", &filled);
    EXPECT_THAT(dataset, IsOk());
    EXPECT_EQ(dataset->cardinality(), Cardinality::Unknown());
    return ExplainUnknownLength(*dataset, &filled);
  }

  TempDir dir_;
};

TEST_F(ExplainUnknownLengthTest, NamesTheFileThatIsCompressedAndTheLineOfItsSource) {
  const UnknownLength said = Explain("- csv: a.csv.gz\n- shuffle: {buffer: 2}\n- batch\n");
  EXPECT_THAT(said.why, AllOf(StartsWith("r.yaml:1:3: csv reads '"), HasSubstr("a.csv.gz"),
                              HasSubstr("in order, since it is compressed")));
  EXPECT_EQ(said.advice, "");
}

TEST_F(ExplainUnknownLengthTest, ASourceThatWasToldToReadInOrderMayCount) {
  const UnknownLength said = Explain("- csv: {files: a.csv, index: none}\n- batch\n");
  EXPECT_THAT(said.why, AllOf(StartsWith("r.yaml:1:"), HasSubstr("`index: none`")));
  EXPECT_THAT(said.advice, HasSubstr("without `index: none` csv counts"));
}

TEST_F(ExplainUnknownLengthTest, WhatHasNoIndexReadsInOrder) {
  const UnknownLength said = Explain("[lines: a.csv]");
  EXPECT_THAT(said.why, HasSubstr("lines reads in order, and learns at the end"));
  EXPECT_EQ(said.advice, "");
}

TEST_F(ExplainUnknownLengthTest, AStageThatLosesTheLengthIsNamedAndNotItsSource) {
  EXPECT_THAT(Explain("- csv: a.csv\n- filter: {field: label, max: 0}\n- batch\n").why,
              AllOf(StartsWith("r.yaml:2:"), HasSubstr("filter")));
}

TEST_F(ExplainUnknownLengthTest, WhatSkipsBadElementsMayReplaceThem) {
  const UnknownLength said =
      Explain("- csv: a.csv\n- cast: {field: x, dtype: float64}\n  on_error: skip\n- batch\n");
  EXPECT_THAT(said.why, AllOf(StartsWith("r.yaml:2:"), HasSubstr("what fails is skipped")));
  EXPECT_THAT(said.advice, HasSubstr("on_error: replace"));
}

TEST_F(ExplainUnknownLengthTest, OfSeveralPipelinesTheOneIsToldThatDoesNotKnow) {
  const UnknownLength said =
      Explain("- concatenate: {inputs: [[csv: a.csv], [csv: a.csv.gz]]}\n- batch\n");
  EXPECT_THAT(said.why, AllOf(StartsWith("r.yaml:1:"), HasSubstr("a.csv.gz' in order")));
}

TEST_F(ExplainUnknownLengthTest, APipelineMadeInCodeHasNoPlace) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode list, ParseYaml("[csv: a.csv.gz]", "r.yaml"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, BuildPipeline(list, dir_ / ""));
  EXPECT_THAT(ExplainUnknownLength(dataset, nullptr).why, StartsWith("csv reads '"));
}

}  // namespace stoker::unknown_length_test
