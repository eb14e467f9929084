#include "stoker/data/text/unigram_encoder.h"

#include <sentencepiece_processor.h>

#include <set>

#include "stoker/base/random.h"
#include "stoker/base/testing.h"
#include "stoker/data/text/sentencepiece_testing_internal.h"

namespace stoker {
namespace {

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
    const std::optional<SentencePieceModel> model = ParseSentencePieceModel(bytes);
    ASSERT_TRUE(model);
    const std::optional<UnigramEncoder> encoder = UnigramEncoder::Of(*model);
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

TEST(SentencePieceModel, EveryProperPrefixIsReadOrRefused) {
  const std::string bytes = ProtoPiece("ab", 1, TestPiece::kNormal) + ProtoEnd(1);
  EXPECT_EQ(ParseSentencePieceModel(bytes)->pieces.at(0).text, "ab");
  EXPECT_EQ(ParseSentencePieceModel(bytes)->pieces.at(0).score, 1);
  for (size_t n = 0; n < bytes.size(); ++n) (void)ParseSentencePieceModel(bytes.substr(0, n));
  EXPECT_FALSE(ParseSentencePieceModel(bytes.substr(0, 5)));
  EXPECT_FALSE(ParseSentencePieceModel("hello"));
}

}  // namespace
}  // namespace stoker
