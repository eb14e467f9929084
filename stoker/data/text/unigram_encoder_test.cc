#include "stoker/data/text/unigram_encoder.h"

#include <sentencepiece_processor.h>

#include <set>

#include "stoker/base/random.h"
#include "stoker/base/testing.h"
#include "stoker/data/testing/sentencepiece.h"

namespace stoker::unigram_encoder_test {

// A model of random pieces over few letters, of which some are two bytes long, and random scores;
// several have the same.
std::string RandomModel(Rng& rng, const std::vector<std::string>& letters) {
  std::set<std::string> pieces;
  for (int i = 0; i < 40; ++i) {
    std::string piece;
    for (uint64_t n = 1 + rng.Below(4); n > 0; --n) piece += letters[rng.Below(letters.size())];
    pieces.insert(piece);
  }
  std::string model =
      ProtoPiece("<s>", 0, TestPiece::kControl) + ProtoPiece("<unk>", 0, TestPiece::kUnknown);
  for (const std::string& piece : pieces)
    model += ProtoPiece(piece, -static_cast<float>(rng.Below(40)) / 8, TestPiece::kNormal);
  return model + ProtoEnd(/*algorithm=*/1);
}

TEST(UnigramEncoder, GivesTheNumbersOfTheLibrary) {
  const std::vector<std::string> letters = {"a", "b", "c", "\u2581", "\u00e9"};
  const std::vector<std::string> others = {" ", "  ", "x", "\u4e2d", "\xff", "\u00a0", "<s>"};
  Rng rng(1, 0, 0, 0);
  for (int round = 0; round < 40; ++round) {
    const std::string bytes = RandomModel(rng, letters);
    sentencepiece::SentencePieceProcessor library;
    ASSERT_TRUE(library.LoadFromSerializedProto(bytes).ok());
    STOKER_ASSERT_OK_AND_ASSIGN(const SentencePieceModel model, ParseSentencePieceModel(bytes));
    const std::optional<UnigramEncoder> encoder = UnigramEncoder::Of(model);
    ASSERT_TRUE(encoder);
    UnigramEncoder::Scratch scratch;
    for (int i = 0; i < 100; ++i) {
      std::string text;
      for (uint64_t n = rng.Below(20); n > 0; --n)
        text += rng.Below(3) > 0 ? letters[rng.Below(letters.size())]
                                 : others[rng.Below(others.size())];
      std::vector<int> wanted;
      ASSERT_TRUE(library.Encode(text, &wanted).ok());
      std::vector<int32_t> found;
      encoder->Encode(text, scratch, found);
      ASSERT_EQ(found, wanted) << text;
    }
  }
}

TEST(UnigramEncoder, LeavesToTheLibraryWhatItDoesNotDo) {
  const std::string unknown = ProtoPiece("<unk>", 0, TestPiece::kUnknown);
  const auto handled = [](const std::string& bytes) {
    return UnigramEncoder::Of(*ParseSentencePieceModel(bytes)).has_value();
  };
  EXPECT_TRUE(handled(unknown + ProtoEnd(1)));
  EXPECT_FALSE(handled(unknown + ProtoEnd(2)));
  EXPECT_FALSE(handled(ProtoEnd(1)));
  EXPECT_FALSE(handled(unknown + ProtoPiece("x", 0, TestPiece::kUserDefined) + ProtoEnd(1)));
  // A map that is cut short.
  EXPECT_FALSE(handled(unknown + ProtoField(3, ProtoField(2, "abcdef"))));
}

TEST(SentencePieceModel, EveryProperPrefixIsReadOrRefusedWithTheByte) {
  const std::string bytes = ProtoPiece("ab", 1, TestPiece::kNormal) + ProtoEnd(1);
  EXPECT_EQ(ParseSentencePieceModel(bytes)->pieces.at(0).text, "ab");
  EXPECT_EQ(ParseSentencePieceModel(bytes)->pieces.at(0).score, 1);
  for (size_t n = 0; n < bytes.size(); ++n) {
    const Result<SentencePieceModel> model = ParseSentencePieceModel(bytes.substr(0, n));
    if (model.ok()) continue;
    EXPECT_THAT(model, FailsWith(StatusCode::kDataLoss, "byte ")) << n;
  }
}

TEST(SentencePieceModel, WhatIsNoMessageIsAnErrorThatNamesTheByte) {
  const std::string piece = ProtoPiece("ab", 1, TestPiece::kNormal);
  const auto fails = [](const std::string& bytes, const char* says) {
    EXPECT_THAT(ParseSentencePieceModel(bytes), FailsWith(StatusCode::kDataLoss, says));
  };
  fails("hello", "byte 3: a field has wire type 4, models have 0, 1, 2 and 5");
  fails(piece + piece.substr(0, 5), "byte 15: 11 bytes are wanted for field 1, 3 are there");
  fails(piece + "\x0a", "byte 14: a number is cut short");
  fails("\x08" + std::string(10, '\xff'), "byte 1: a number has more than 64 bits");
  fails(piece + ProtoField(1, "\x0a\x07xy"),
        "byte 17: 7 bytes are wanted for field 1, 2 are there");
  fails(ProtoField(2, "\x1d\x01"), "byte 3: 4 bytes are wanted for field 3, 1 are there");
}

}  // namespace stoker::unigram_encoder_test
