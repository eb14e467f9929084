#include "stoker/data/sources/n5.h"

#include <filesystem>
#include <fstream>

#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/formats/n5/n5_testing_internal.h"

namespace stoker::n5_test {

using testing::ElementsAre;

class N5SourceTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& bytes) const {
    const std::filesystem::path path = dir_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
  }
  // 10 rows of 2 values, 10 * row + column, in blocks of 4 rows of 1; and labels.
  void WriteContainer() const {
    Write("c/image/attributes.json", N5AttributesOf({2, 10}, {1, 4}, "int16", "gzip"));
    Write("c/label/attributes.json", N5AttributesOf({10}, {4}, "int64", "raw"));
    for (int block = 0; block < 3; ++block) {
      const int rows = block < 2 ? 4 : 2;
      std::string labels;
      for (int column = 0; column < 2; ++column) {
        std::string values;
        for (int row = 4 * block; row < 4 * block + rows; ++row)
          values += BigEndian(static_cast<uint64_t>(10 * row + column), 2);
        Write(fmt::format("c/image/{}/{}", column, block), N5BlockOf({1, rows}, values, true));
      }
      for (int row = 4 * block; row < 4 * block + rows; ++row)
        labels += BigEndian(static_cast<uint64_t>(row), 8);
      Write(fmt::format("c/label/{}", block), N5BlockOf({rows}, labels));
    }
  }

  const TempDir dir_;
};

TEST_F(N5SourceTest, GivesRowsOfTheDatasetsThatAreNamedOrOfAll) {
  WriteContainer();
  const N5 named{.path = dir_ / "c", .fields = {{"x", "image"}, {"y", "label"}}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(named));
  EXPECT_EQ(dataset.spec().ToString(), "{x: int16[2], y: int64[]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(dataset, Runtime::Inline()));
  ASSERT_EQ(all.size(), 10u);
  EXPECT_THAT(all[9].arrays[0].values<int16_t>(), ElementsAre(90, 91));
  EXPECT_EQ(all[9].arrays[1].values<int64_t>()[0], 9);
  EXPECT_EQ(Source(N5{.path = dir_ / "c"})->spec().ToString(), "{image: int16[2], label: int64[]}");
  EXPECT_EQ(Source(N5{.path = dir_ / "c/image"})->spec().ToString(), "{value: int16[2]}");
}

TEST_F(N5SourceTest, KeepsItsPromises) {
  WriteContainer();
  ExpectKeepsItsPromises(Source(N5{.path = dir_ / "c"}));
  ExpectKeepsItsPromises(Source(N5{.path = dir_ / "c", .cache = 0}) | Shuffle{} | Prefetch{});
  ExpectKeepsItsPromises(Source(N5{.path = dir_ / "c"}) | Shuffle{.window = 8, .page = 4});
}

TEST_F(N5SourceTest, RowsOfADamagedBlockAreNamedAndCanBeLeftOut) {
  WriteContainer();
  std::filesystem::resize_file(dir_ / "c/image/1/1", 14);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(N5{.path = dir_ / "c"}));
  EXPECT_THAT(ReadAll(dataset, Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss, "c/image/1/1: "));
  const QuietLog quiet;
  EXPECT_EQ(
      ReadAll(*(Result<Dataset>(dataset) | IgnoreErrors{.share = 1}), Runtime::Inline())->size(),
      6u);
}

TEST_F(N5SourceTest, SaysWhatIsMissing) {
  EXPECT_THAT(Source(N5{.path = dir_ / "none"}), FailsWith(StatusCode::kInvalidArgument, "none"));
  std::filesystem::create_directory(dir_ / "empty");
  EXPECT_THAT(Source(N5{.path = dir_ / "empty"}),
              FailsWith(StatusCode::kNotFound, "there is no dataset in the container"));
  WriteContainer();
  EXPECT_THAT(Source(N5{.path = dir_ / "c", .fields = {{"x", "mask"}}}),
              FailsWith(StatusCode::kNotFound, "c/mask/attributes.json"));
}

}  // namespace stoker::n5_test
