#include "stoker/data/sources/list.h"

#include "stoker/data/core/sample_names.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/data/testing/picture_folder.h"

namespace stoker::list_test {

using testing::ElementsAre;

std::string TextOf(const Array& array) {
  return {reinterpret_cast<const char*>(array.data()), array.num_bytes()};
}

class ListTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a.jpg", "my dog 7.png", "masks/a.png", "masks/my dog 7.png"})
      WriteBelow(dir_, name, name);
  }

  List Of(std::string_view lines) {
    WriteBelow(dir_, "list.txt", lines);
    return {.path = dir_.path() / "list.txt"};
  }

  // The fields of every element, labels as numbers.
  static std::vector<std::string> SamplesOf(const Result<Dataset>& dataset) {
    std::vector<std::string> samples;
    EXPECT_THAT(dataset, IsOk());
    if (!dataset.ok()) return samples;
    const Result<std::vector<Element>> all = ReadAll(*dataset, Runtime::Threaded(2));
    EXPECT_THAT(all, IsOk());
    if (!all.ok()) return samples;
    for (const Element& element : *all) {
      const Array& second = element.arrays[1];
      samples.push_back(fmt::format("{}|{}", TextOf(element.arrays[0]),
                                    second.dtype() == DType::kInt64
                                        ? std::to_string(second.values<int64_t>()[0])
                                        : TextOf(second)));
    }
    return samples;
  }
  const TempDir dir_;
};

TEST_F(ListTest, ReadsPathsAndLabelsWithBlanksInNamesAndEmptyLinesBetween) {
  const Result<Dataset> dataset =
      Source(Of("a.jpg 3\r\n\n  my dog 7.png   -12 \nmy dog 7.png\t0\na.jpg\t 5\nmasks/a.png 9"));
  EXPECT_EQ(dataset->spec().ToString(), "{image: uint8[?], label: int64[]}");
  EXPECT_THAT(SamplesOf(dataset), ElementsAre("a.jpg|3", "my dog 7.png|-12", "my dog 7.png|0",
                                              "a.jpg|5", "masks/a.png|9"));
}

TEST_F(ListTest, ReadsPairsOfImageAndMask) {
  List list = Of("a.jpg masks/a.png\nmy dog 7.png\tmasks/my dog 7.png\n");
  list.pairs = true;
  list.paths = true;
  const Result<Dataset> dataset = Source(list);
  EXPECT_EQ(dataset->spec().ToString(), "{image: uint8[?], mask: uint8[?], path: uint8[?]}");
  EXPECT_THAT(SamplesOf(dataset),
              ElementsAre("a.jpg|masks/a.png", "my dog 7.png|masks/my dog 7.png"));
  const std::shared_ptr<const SampleNames> names = FindSampleNames(*dataset);
  EXPECT_EQ(names->NameOf(1, "image"), dir_ / "my dog 7.png");
  EXPECT_EQ(names->NameOf(1, "mask"), dir_ / "masks/my dog 7.png");
}

TEST_F(ListTest, TakesPathsAsRelativeToTheRootAndAbsoluteOnesAsTheyAre) {
  List list = Of(fmt::format("my dog 7.png 1\n{} 2\n", dir_ / "a.jpg"));
  list.root = dir_.path() / "masks";
  EXPECT_THAT(SamplesOf(Source(list)), ElementsAre("masks/my dog 7.png|1", "a.jpg|2"));
}

TEST_F(ListTest, TakesAddressesAsTheyAre) {
  List list = Of("http://127.0.0.1:9/a.jpg 1\nhttps://host/my dog.png\t2\ns3://bucket/b.jpg 3\n");
  list.root = dir_.path() / "masks";
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(list));
  const std::shared_ptr<const SampleNames> names = FindSampleNames(dataset);
  EXPECT_EQ(names->NameOf(0, "image"), "http://127.0.0.1:9/a.jpg");
  EXPECT_EQ(names->NameOf(1, "image"), "https://host/my dog.png");
  EXPECT_EQ(names->NameOf(2, "image"), "s3://bucket/b.jpg");
}

TEST_F(ListTest, KeepsItsPromises) {
  ExpectKeepsItsPromises(Source(Of("a.jpg 3\nmy dog 7.png 1\nmasks/a.png 2\n")) | Shuffle{});
}

// A cache is made anew, and a resumed run notices, where a label has changed.
TEST_F(ListTest, TheListItselfIsAmongTheFilesThatAreRead) {
  const Result<Dataset> dataset = Source(Of("a.jpg 1\n"));
  STOKER_ASSERT_OK(dataset);
  EXPECT_THAT(dataset->node().files(), ElementsAre(dir_ / "list.txt", dir_ / "a.jpg"));
}

TEST_F(ListTest, AListedFileThatIsMissingIsAnErrorOfItsElementOnly) {
  const Result<Dataset> dataset = Source(Of("a.jpg 3\nb.jpg 4\n"));
  EXPECT_THAT(ReadAll(*dataset, Runtime::Threaded(2)),
              FailsWith(StatusCode::kNotFound, "b.jpg: no such file"));
}

TEST_F(ListTest, SaysWhichLineIsWrongAndHow) {
  const struct {
    const char* lines;
    bool pairs;
    const char* says;
  } kWrong[] = {
      {"a.jpg 1\nb.jpg\n", false, "list.txt: byte 8: line 2 has one word, 'b.jpg'; after the path"},
      {"a.jpg one\n", false, "line 1 ends with 'one', which is not a label"},
      {"a.jpg 1x\n", false, "ends with '1x', which is not a label"},
      {"a.jpg 99999999999999999999\n", false, "which is not a label"},
      {"a.jpg masks/a.png\n", false, "or set list.pairs where it is a path"},
      {"\n\na.jpg\n", true, "line 3 has one word, 'a.jpg'; after the path must come a second path"},
      {"my dog 7.png masks/a.png\n", true, "does not tell where the second path begins"},
      {"a.jpg\tb.png\tc.png\n", true, "does not tell where the second path begins"},
      {" \n", false, "lists no files"},
  };
  for (const auto& [lines, pairs, says] : kWrong) {
    SCOPED_TRACE(lines);
    List list = Of(lines);
    list.pairs = pairs;
    EXPECT_THAT(Source(list), FailsWith(StatusCode::kDataLoss, says));
  }
  EXPECT_THAT(Source(Of(std::string(100'000, 'x'))),
              FailsWith(StatusCode::kDataLoss, "line 1 has 100000 bytes, at most 65536"));
  EXPECT_THAT(Source(List{.path = dir_.path() / "none.txt"}),
              FailsWith(StatusCode::kNotFound, "none.txt: no such file"));
}

}  // namespace stoker::list_test
