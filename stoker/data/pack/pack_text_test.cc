// Text made into numbers once, offline, and on the fly: the same numbers, and the same batches.
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/lines.h"
#include "stoker/data/sources/lmdb.h"
#include "stoker/data/sources/stoker.h"
#include "stoker/data/sources/tfrecord.h"
#include "stoker/data/sources/webdataset.h"
#include "stoker/data/testing/packed.h"
#include "stoker/data/testing/sentencepiece.h"
#include "stoker/data/transforms/cast.h"
#include "stoker/data/transforms/input_mask.h"
#include "stoker/data/transforms/parse_example.h"
#include "stoker/data/transforms/sentencepiece.h"
#include "stoker/data/transforms/truncate.h"
#include "stoker/data/transforms/wordpiece.h"
#include "stoker/data/transforms/words.h"
#include "stoker/io/atomic_file.h"

namespace stoker::pack_text_test {

class PackTextTest : public PackTest {
 protected:
  PackTextTest() {
    std::string text;
    for (int i = 0; i < 40; ++i) {
      for (int word = 0; word < i % 7; ++word) text += (word + i) % 3 == 0 ? "ab " : "b a ";
      text += "c\n";
    }
    Write("t", text);
    const std::string space = "\u2581";
    Write("x.model", ProtoPiece("<unk>", 0, TestPiece::kUnknown) +
                         ProtoPiece(space + "ab", -1, TestPiece::kNormal) +
                         ProtoPiece(space, -2, TestPiece::kNormal) +
                         ProtoPiece("a", -3, TestPiece::kNormal) +
                         ProtoPiece("b", -3, TestPiece::kNormal) + ProtoEnd(/*algorithm=*/1));
    Write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n##b\nc\nb\n");
    Write("words.txt", "<unk>\nab\nb\na\n");
  }
  void Write(const std::string& name, const std::string& text) const {
    STOKER_EXPECT_OK(WriteFileAtomically(Path(name), text));
  }

  // Tokens of at most six, some of them hidden.
  std::vector<Result<Dataset>> Tokenised() const {
    const Result<Dataset> lines = Source(Lines{.path = Path("t")});
    std::vector<Result<Dataset>> all = {
        lines | Words{.vocabulary = Path("words.txt"), .unknown = "<unk>"},
        lines | Wordpiece{.vocabulary = Path("vocab.txt")},
        lines | Sentencepiece{.model = Path("x.model")}};
    for (Result<Dataset>& dataset : all) {
      dataset = std::move(dataset) | Truncate{.length = 6} |
                InputMask{.field = "tokens", .probability = 0.3, .target = "original"};
    }
    return all;
  }

  // What was packed to "x".
  Result<Dataset> Packed(std::string_view format) const {
    if (format == "stoker") return Source(Stoker{.files = Path("x.stoker")});
    if (format == "tar") return Source(Webdataset{.files = Path("x.tar")});
    if (format == "lmdb") return Source(Lmdb{.path = Path("x.lmdb")});
    return Internal("no source for {}", format);
  }
};

Result<std::string> BatchesOf(const Result<Dataset>& dataset, const Runtime& runtime) {
  const Result<Dataset> batches = dataset | PaddedBatch{.size = 8, .lengths = true};
  if (!batches.ok()) return batches.status();
  STOKER_ASSIGN_OR_RETURN(std::vector<Element> all, ReadAll(*batches, runtime, {.seed = 5}));
  return WithoutKeys(std::move(all));
}

TEST_F(PackTextTest, TokensThatWerePackedGiveTheBatchesOfThoseMadeOnTheFly) {
  for (const Result<Dataset>& dataset : Tokenised()) {
    STOKER_ASSERT_OK(dataset.status());
    STOKER_ASSERT_OK_AND_ASSIGN(const std::string wanted, BatchesOf(dataset, Runtime::Inline()));
    for (const char* format : {"stoker", "tar", "lmdb"}) {
      SCOPED_TRACE(dataset->ToString() + format);
      PackOptions options = Into(format);
      options.pass.seed = 5;  // masks are drawn once, when packing
      options.overwrite = true;
      options.verify = true;
      STOKER_ASSERT_OK(Pack(*dataset, Path("x"), options));
      EXPECT_EQ(Packed(format)->spec(), dataset->spec());
      EXPECT_EQ(*BatchesOf(Packed(format), Runtime::Inline()), wanted);
      EXPECT_EQ(*BatchesOf(Packed(format), Runtime::Threaded(3)), wanted);
    }
  }
}

TEST_F(PackTextTest, TokensInExamplesAreReadBackByParseExample) {
  const Result<Dataset> tokens = Source(Lines{.path = Path("t")}) |
                                 Words{.vocabulary = Path("words.txt"), .unknown = "<unk>"} |
                                 Truncate{.length = 6};
  STOKER_ASSERT_OK(Pack(*tokens, Path("x"), Into("tfrecord")));
  ExampleFeatures features;
  STOKER_ASSERT_OK(features.Read(*ParseYaml("{tokens: {type: int64, shape: [-1]}}", "test")));
  const Result<Dataset> packed = Source(Tfrecord{.files = Path("x.tfrecord")}) |
                                 ParseExample{.features = features} |
                                 Cast{.field = "tokens", .dtype = "int32"};
  STOKER_ASSERT_OK(packed.status());
  EXPECT_EQ(*BatchesOf(packed, Runtime::Inline()), *BatchesOf(tokens, Runtime::Inline()));
}

}  // namespace stoker::pack_text_test
