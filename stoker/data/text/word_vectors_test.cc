#include "stoker/data/text/word_vectors.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"

namespace stoker::word_vectors_test {

using testing::ElementsAre;
using testing::HasSubstr;

class WordVectorsTest : public testing::Test {
 protected:
  std::string Written(std::string_view text) const {
    std::string path = dir_ / "vectors.txt";
    STOKER_EXPECT_OK(WriteFileAtomically(path, text));
    return path;
  }
  Result<WordVectors> Read(std::string_view text, int64_t width = 2) const {
    return ReadWordVectors(Written(text), words_, width);
  }

  const TempDir dir_;
  const std::vector<std::string> words_ = {"sun", "new york", "moon"};
};

TEST_F(WordVectorsTest, OfWordsAreThoseOfTheirLinesWithOrWithoutAFirstLineOfCounts) {
  const std::string lines = "moon 1 2.5\nstar 0 0\nnew york -1e-3 7\nmoon 9 9\n";
  for (const std::string first : {"", "4 2\n"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const WordVectors vectors, Read(first + lines));
    EXPECT_EQ(vectors.num_found, 2);
    EXPECT_THAT(vectors.found, ElementsAre(false, true, true));
    EXPECT_THAT(vectors.values, ElementsAre(0, 0, -1e-3F, 7, 1, 2.5F));
  }
}

TEST_F(WordVectorsTest, MayEndLinesWithSpacesAndCrAndBePartedByTabs) {
  STOKER_ASSERT_OK_AND_ASSIGN(const WordVectors vectors, Read("sun\t1\t2 \r\nmoon  3   4\r\n\r\n"));
  EXPECT_THAT(vectors.values, ElementsAre(1, 2, 0, 0, 3, 4));
}

TEST_F(WordVectorsTest, OfANumberAsTheFirstWordAreVectors) {
  STOKER_ASSERT_OK_AND_ASSIGN(const WordVectors vectors, Read("2000 1 2\nsun 3 4\n"));
  EXPECT_THAT(vectors.values, ElementsAre(3, 4, 0, 0, 0, 0));
}

TEST_F(WordVectorsTest, OfAWordThatEndsWithANumberAreToldFromIt) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const WordVectors vectors,
      ReadWordVectors(Written("route 66 1 2\nsun 3 4\n"), std::vector<std::string>{"route 66"}, 2));
  EXPECT_THAT(vectors.values, ElementsAre(1, 2));
}

TEST_F(WordVectorsTest, MayHaveSignsAndNumbersThatAreZeroForAFloat) {
  STOKER_ASSERT_OK_AND_ASSIGN(const WordVectors vectors, Read("sun +1.5 1e-46\n"));
  EXPECT_THAT(vectors.values, ElementsAre(1.5F, 0, 0, 0, 0, 0));
}

TEST_F(WordVectorsTest, ThatAreNoneAreRefusedWithTheLine) {
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
           {"sun 1 2\nmoon 1\n", "vectors.txt: line 2: it has no word and 2 numbers"},
           {"sun 1 2\nmoon 1 x\n", "line 2: 'x' of the vector of 'moon' is no finite number"},
           {"sun 1 2\nmoon 1 nan\n", "line 2: 'nan' of the vector of 'moon' is no finite number"},
           {"3 2\nsun 1 2\nmoon 1 2\n", "it has 2 vectors, and its first line announces 3"},
           {"sun\n", "line 1: it has no word and 2 numbers"},
           {"", "it has no vectors"},
           {"0 2\n", "it has no vectors"}}) {
    const Status status = Read(text).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << text;
    EXPECT_THAT(status.message(), HasSubstr(what)) << text;
  }
  EXPECT_EQ(ReadWordVectors(dir_ / "none", words_, 2).status().code(), StatusCode::kNotFound);
}

TEST_F(WordVectorsTest, OfAnotherWidthAreRefusedAtTheFirstLine) {
  for (const char* text : {"sun 1 2 3 4 5 6\n", "1 6\nsun 1 2 3 4 5 6\n", "sun 1\n"}) {
    const Status status = Read(text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(),
                testing::ContainsRegex("its vectors have [16] numbers, and 2 are wanted"));
  }
}

TEST_F(WordVectorsTest, OfDamagedFilesAreReadOrRefusedAndNeverMore) {
  const std::string whole = "2 3\nsun 1 2 3\nmoon 4 5 6\nnew york 7 8 9\n";
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text = whole;
    for (int change = 0; change < 3; ++change)
      text[random() % text.size()] = static_cast<char>(random());
    const Result<WordVectors> vectors = Read(text, 3);
    if (!vectors.ok()) continue;
    EXPECT_TRUE(
        std::ranges::all_of(vectors->values, [](float value) { return std::isfinite(value); }));
  }
}

}  // namespace stoker::word_vectors_test
