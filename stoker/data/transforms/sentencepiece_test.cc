#include "stoker/data/transforms/sentencepiece.h"

#include <cstring>

#include "stoker/data/transforms/text_testing_internal.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using namespace std::string_literals;

// A message of the model's protocol buffer (sentencepiece_model.proto), of less than 128 bytes.
std::string Message(int number, const std::string& content) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} +
         content;
}

std::string Piece(const std::string& text, float score, int type) {
  std::string bytes(sizeof(score), '\0');
  std::memcpy(bytes.data(), &score, sizeof(score));
  return Message(1, Message(1, text) + "\x15" + bytes + "\x18" + static_cast<char>(type));
}

// A unigram model of the pieces <unk>, <s>, </s>, "_ab", "_", "a", "b" ("_" is U+2581).
std::string Model() {
  constexpr int kNormal = 1, kUnknown = 2, kControl = 3;
  const std::string space = "\u2581";
  return Piece("<unk>", 0, kUnknown) + Piece("<s>", 0, kControl) + Piece("</s>", 0, kControl) +
         Piece(space + "ab", -1, kNormal) + Piece(space, -2, kNormal) + Piece("a", -3, kNormal) +
         Piece("b", -3, kNormal) + Message(2, "\x18\x01"s) + Message(3, Message(1, "identity"));
}

class SentencepieceTest : public TextTest {
 protected:
  const std::string model_ = Write("x.model", Model());
};

TEST_F(SentencepieceTest, GivesTheBestSegmentation) {
  const Result<Dataset> lines = LinesOf("t", "ab ba\n\nab\n");
  EXPECT_THAT(TokensOf(lines | Sentencepiece{.model = model_}),
              ElementsAre(Tokens{3, 4, 6, 5}, Tokens{}, Tokens{3}));
  EXPECT_THAT(TokensOf(lines | Sentencepiece{.model = model_, .begin = true, .end = true}),
              ElementsAre(Tokens{1, 3, 4, 6, 5, 2}, Tokens{1, 2}, Tokens{1, 3, 2}));
}

TEST_F(SentencepieceTest, KeepsItsPromises) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += std::string(static_cast<size_t>(i % 6), 'b') + " ab x\n";
  ExpectKeepsItsPromises(LinesOf("t", text) | Sentencepiece{.model = model_});
}

TEST_F(SentencepieceTest, RefusesWhatIsNoModel) {
  const Result<Dataset> lines = LinesOf("t", "a\n");
  EXPECT_THAT(lines | Sentencepiece({.model = Write("bad.model", "hello")}),
              FailsWith(StatusCode::kDataLoss, "/bad.model: this is no SentencePiece model"));
  EXPECT_THAT(lines | Sentencepiece({.model = Write("empty.model", "")}),
              FailsWith(StatusCode::kDataLoss, "/empty.model: this is no SentencePiece model"));
  EXPECT_THAT(lines | Sentencepiece({.model = dir_ / "none"}),
              FailsWith(StatusCode::kNotFound, "none"));
}

}  // namespace
}  // namespace stoker
