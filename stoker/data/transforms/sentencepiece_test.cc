#include "stoker/data/transforms/sentencepiece.h"

#include "stoker/data/testing/sentencepiece.h"
#include "stoker/data/testing/text.h"

namespace stoker::sentencepiece_test {

using testing::ElementsAre;

// The pieces <unk>, <s>, </s>, "_ab", "_", "a", "b" ("_" is U+2581).
std::string Model(int algorithm) {
  const std::string space = "\u2581";
  return ProtoPiece("<unk>", 0, TestPiece::kUnknown) + ProtoPiece("<s>", 0, TestPiece::kControl) +
         ProtoPiece("</s>", 0, TestPiece::kControl) +
         ProtoPiece(space + "ab", -1, TestPiece::kNormal) +
         ProtoPiece(space, -2, TestPiece::kNormal) + ProtoPiece("a", -3, TestPiece::kNormal) +
         ProtoPiece("b", -3, TestPiece::kNormal) + ProtoEnd(algorithm);
}

class SentencepieceTest : public TextTest {
 protected:
  const std::string model_ = Write("x.model", Model(/*algorithm=*/1));
  const std::string bpe_ = Write("bpe.model", Model(/*algorithm=*/2));
};

TEST_F(SentencepieceTest, GivesTheBestSegmentation) {
  const Result<Dataset> lines = LinesOf("t", "ab ba\n\nab\n");
  EXPECT_THAT(TokensOf(lines | Sentencepiece{.model = model_}),
              ElementsAre(Tokens{3, 4, 6, 5}, Tokens{}, Tokens{3}));
  EXPECT_THAT(TokensOf(lines | Sentencepiece{.model = model_, .begin = true, .end = true}),
              ElementsAre(Tokens{1, 3, 4, 6, 5, 2}, Tokens{1, 2}, Tokens{1, 3, 2}));
}

TEST_F(SentencepieceTest, RunsModelsOfOtherAlgorithmsToo) {
  EXPECT_THAT(TokensOf(LinesOf("t", "b aa\n") | Sentencepiece{.model = bpe_}),
              ElementsAre(Tokens{4, 6, 4, 5, 5}));
}

TEST_F(SentencepieceTest, KeepsItsPromises) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += std::string(static_cast<size_t>(i % 6), 'b') + " ab x\n";
  ExpectKeepsItsPromises(LinesOf("t", text) | Sentencepiece{.model = model_});
}

TEST_F(SentencepieceTest, RefusesWhatIsNoModel) {
  const Result<Dataset> lines = LinesOf("t", "a\n");
  EXPECT_THAT(lines | Sentencepiece({.model = Write("bad.model", "hello")}),
              FailsWith(StatusCode::kDataLoss,
                        "/bad.model: byte 3: a field has wire type 4, models have 0, 1, 2 and 5; "
                        "this is no SentencePiece model"));
  EXPECT_THAT(
      lines | Sentencepiece({.model = Write("cut.model", Model(1).substr(0, 20))}),
      FailsWith(StatusCode::kDataLoss, "/cut.model: byte 18: 12 bytes are wanted for field 1, 2 "));
  EXPECT_THAT(
      lines | Sentencepiece({.model = Write("empty.model", "")}),
      FailsWith(StatusCode::kDataLoss, "/empty.model: byte 0: the file ends without a piece"));
  EXPECT_THAT(
      lines | Sentencepiece({.model = Write("none.model", ProtoEnd(1))}),
      FailsWith(StatusCode::kDataLoss, "/none.model: byte 16: the file ends without a piece"));
  const std::string twice = ProtoPiece("<unk>", 0, TestPiece::kUnknown);
  EXPECT_THAT(lines | Sentencepiece({.model = Write("twice.model", twice + twice + ProtoEnd(1))}),
              FailsWith(StatusCode::kDataLoss, "/twice.model: 2 pieces, which the SentencePiece "));
  EXPECT_THAT(lines | Sentencepiece({.model = dir_ / "none"}),
              FailsWith(StatusCode::kNotFound, "none"));
}

}  // namespace stoker::sentencepiece_test
