#include <cstring>
#include <filesystem>
#include <string>

#include "stoker/base/testing.h"
#include "stoker/formats/pt/pt_file.h"
#include "stoker/formats/pt/pt_testing_internal.h"
#include "stoker/formats/pt/pt_writer.h"
#include "stoker/io/file.h"

namespace stoker::pt_test {

using namespace std::string_literals;

std::string Floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::vector<NamedArray> OneOfEveryKind() {
  std::vector<NamedArray> arrays;
  for (const DType dtype :
       {DType::kBool, DType::kUInt8, DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64,
        DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    const Array array = Array::Allocate(dtype, {2, 3});
    for (size_t i = 0; i < array.num_bytes(); ++i) {
      array.data()[i] = static_cast<std::byte>(dtype == DType::kBool ? i % 2 : i);
    }
    arrays.push_back({fmt::format("layer.{}", DTypeName(dtype)), array});
  }
  arrays.push_back({"number", Array::Of(std::span<const float>(std::array{2.5f}), {})});
  arrays.push_back({"empty", Array::Allocate(DType::kFloat32, {0, 3})});
  arrays.push_back({"\u00fc", Array::Of(std::vector<int64_t>{7})});
  return arrays;
}

std::string Written(std::span<const NamedArray> arrays) {
  const TempDir dir;
  EXPECT_THAT(WritePt(dir / "a.pt", arrays), IsOk());
  return *ReadTextFile(dir / "a.pt");
}

TEST(PtFile, ReadsBackWhatWritePtWrote) {
  const std::vector<NamedArray> arrays = OneOfEveryKind();
  STOKER_ASSERT_OK_AND_ASSIGN(const PtFile file, ParsePt(Written(arrays)));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<NamedArray> read, file.ReadAll());
  ASSERT_EQ(read.size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_EQ(read[i].name, arrays[i].name);
    EXPECT_TRUE(SameBytes(read[i].array, arrays[i].array)) << arrays[i].name;
    EXPECT_EQ(file.entries()[i].shape, arrays[i].array.shape());
    STOKER_ASSERT_OK_AND_ASSIGN(const Array alone, file.Read(arrays[i].name));
    EXPECT_TRUE(SameBytes(alone, arrays[i].array)) << arrays[i].name;
  }
}

TEST(WritePt, GivesEqualBytesForEqualArrays) {
  EXPECT_EQ(Written(OneOfEveryKind()), Written(OneOfEveryKind()));
}

TEST(WritePt, RefusesANameTwice) {
  const TempDir dir;
  const std::vector<NamedArray> arrays = {{"w", Array::Of(std::vector<float>{1})},
                                          {"w", Array::Of(std::vector<float>{2})}};
  EXPECT_THAT(WritePt(dir / "a.pt", arrays),
              FailsWith(StatusCode::kInvalidArgument, "two tensors are called 'w'"));
  EXPECT_FALSE(std::filesystem::exists(dir / "a.pt"));
}

// The pickle of torch 2.11's torch.save({"model": Linear(2, 1).state_dict(), "epoch": 3,
// "lr": 0.1, "p": the weight as a parameter, "ok": True, "none": None, "sz": torch.Size([1, 2]),
// "half": bfloat16 ones}), memos and all.
const std::string kTorch =
    "\x80\x02}q\0(X\x05\0\0\0modelq\x01"
    "ccollections\nOrderedDict\nq\x02)Rq\x03(X\x06\0\0\0weightq"
    "\x04"
    "ctorch._utils\n_rebuild_tensor_v2\nq\x05((X\x07\0\0\0storageq\x06"
    "ctorch\nFloatStorage\n"
    "q\x07X\x01\0\0\0"
    "0q\x08X\x03\0\0\0cpuq\tK\x02tq\nQK\0K\x01K\x02\x86q\x0bK\x02K\x01\x86q\x0c"
    "\x89h\x02)Rq\rtq\x0eRq\x0fX\x04\0\0\0biasq\x10h\x05((h\x06h\x07X\x01\0\0\0"
    "1q\x11h\tK\x01tq"
    "\x12QK\0K\x01\x85q\x13K\x01\x85q\x14\x89h\x02)Rq\x15tq\x16Rq\x17u}q\x18X\t\0\0\0_metadataq"
    "\x19h\x02)Rq\x1aX\0\0\0\0q\x1b}q\x1cX\x07\0\0\0versionq\x1dK\x01sssbX\x05\0\0\0epochq\x1eK"
    "\x03X\x02\0\0\0lrq\x1fG?\xb9\x99\x99\x99\x99\x99\x9aX\x01\0\0\0pq ctorch._utils\n_rebuild_par"
    "ameter\nq!h\x05((h\x06h\x07h\x08h\tK\x02tq\"QK\0K\x01K\x02\x86q#K\x02K\x01\x86q$\x89h\x02)Rq"
    "%tq&Rq'\x88h\x02)Rq(\x87q)Rq*X\x02\0\0\0okq+\x88X\x04\0\0\0noneq,NX\x02\0\0\0szq-ctorch\nSi"
    "ze\nq.K\x01K\x02\x86q/\x85q0Rq1X\x04\0\0\0halfq2h\x05((h\x06"
    "ctorch\nBFloat16Storage\nq3X\x01"
    "\0\0\0"
    "2q4h\tK\x02tq5QK\0K\x02\x85q6K\x01\x85q7\x89h\x02)Rq8tq9Rq:u."s;

TEST(PtFile, ReadsWhatTorchSaveWrites) {
  const std::string bytes = PtArchive(kTorch, {{"byteorder", "little"},
                                               {"data/0", Floats({1, 2})},
                                               {"data/1", Floats({3})},
                                               {"data/2", "\x80\x3f\x80\x3f"},
                                               {"version", "3\n"}});
  STOKER_ASSERT_OK_AND_ASSIGN(const PtFile file, ParsePt(bytes));
  std::vector<std::string> names;
  for (const PtEntry& entry : file.entries()) {
    names.push_back(entry.name + " " + std::string(DTypeName(entry.dtype)) +
                    ShapeToString(entry.shape));
  }
  EXPECT_THAT(names, testing::ElementsAre("model.weight float32[1, 2]", "model.bias float32[1]",
                                          "p float32[1, 2]", "half bfloat16[2]"));
  EXPECT_EQ(file.values(), (std::map<std::string, std::string>{{"epoch", "3"},
                                                               {"lr", "0.1"},
                                                               {"none", "None"},
                                                               {"ok", "True"},
                                                               {"sz.0", "1"},
                                                               {"sz.1", "2"}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array weight, file.Read("model.weight"));
  EXPECT_EQ(weight.values<float>()[1], 2);
  STOKER_ASSERT_OK_AND_ASSIGN(const Array parameter, file.Read("p"));
  EXPECT_EQ(parameter.data(), weight.data()) << "one storage, and none is copied";
}

// torch.save({"w": torch.ones(2, 2).t()}, _use_new_zipfile_serialization=False).
const std::string kOld =
    "\x80\x02\x8a\nl\xfc\x9c"
    "F\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}q\0(X\x10\0\0\0protocol_ver"
    "sionq\x01M\xe9\x03X\r\0\0\0little_endianq\x02\x88X\n\0\0\0type_sizesq\x03}q\x04(X\x05\0\0\0sh"
    "ortq\x05K\x02X\x03\0\0\0intq\x06K\x04X\x04\0\0\0longq\x07K\x04uu.\x80\x02}q\0X\x01\0\0\0wq\x01"
    "ctorch._utils\n_rebuild_tensor_v2\nq\x02((X\x07\0\0\0storageq\x03"
    "ctorch\nFloatStorage\nq\x04X"
    "\n\0\0\0"
    "1081910464q\x05X\x03\0\0\0cpuq\x06K\x04Ntq\x07QK\0K\x02K\x02\x86q\x08K\x01K\x02\x86q"
    "\t\x89"
    "ccollections\nOrderedDict\nq\n)Rq\x0btq\x0cRq\rs.\x80\x02]q\0X\n\0\0\0"
    "1081910464q\x01"
    "a.\x04\0\0\0\0\0\0\0"s;

TEST(PtFile, ReadsWhatTorchBefore16Wrote) {
  STOKER_ASSERT_OK_AND_ASSIGN(const PtFile file, ParsePt(kOld + Floats({1, 2, 3, 4})));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array w, file.Read("w"));
  EXPECT_EQ(w.shape(), (Shape{2, 2}));
  EXPECT_THAT(w.values<float>(), testing::ElementsAre(1, 3, 2, 4)) << "it is a transposed view";
}

TEST(PtFile, EveryProperPrefixOfAGoodFileIsAnError) {
  const std::vector<NamedArray> arrays = {{"w", Array::Of(std::vector<float>{1, 2})}};
  for (const std::string& good : {Written(arrays), kOld + Floats({1, 2, 3, 4})}) {
    STOKER_ASSERT_OK(ParsePt(good));
    for (size_t size = 0; size < good.size(); ++size) {
      EXPECT_THAT(ParsePt(good.substr(0, size)), FailsWith(StatusCode::kDataLoss, "x.pt: "))
          << size;
    }
  }
}

// Checksums are over names and values alike; what may change is padding and what nobody reads.
TEST(PtFile, AFlippedByteIsFoundOrChangesNothing) {
  const std::vector<NamedArray> arrays = {{"w", Array::Of(std::vector<float>{1, 2})},
                                          {"b", Array::Of(std::vector<int64_t>{3})}};
  const std::string good = Written(arrays);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(~bad[i]);
    const Result<PtFile> file = ParsePt(bad);
    if (!file.ok()) continue;
    const Result<std::vector<NamedArray>> read = file->ReadAll();
    if (!read.ok()) continue;
    ASSERT_EQ(read->size(), 2u) << i;
    for (size_t k = 0; k < 2; ++k) {
      EXPECT_EQ((*read)[k].name, arrays[k].name) << i;
      EXPECT_TRUE(SameBytes((*read)[k].array, arrays[k].array)) << i;
    }
  }
}

TEST(PtFile, AFlippedByteOfAnOldFileIsNeverMoreThanAWrongValue) {
  const std::string good = kOld + Floats({1, 2, 3, 4});
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(~bad[i]);
    const Result<PtFile> file = ParsePt(bad);
    if (file.ok()) (void)file->ReadAll().ok();
  }
}

const std::string kFour = PickledStorage("FloatStorage", 4);

struct BrokenCase {
  const char* name;
  std::string pickle;
  const char* says;
  StatusCode code = StatusCode::kDataLoss;
};

std::string Nested(int depth) {
  std::string text = "\x80\x02";
  for (int i = 0; i < depth; ++i) text += "]";
  for (int i = 1; i < depth; ++i) text += "a";
  return text + ".";
}

const BrokenCase kBroken[] = {
    {"NoPickle", "!hello", "x.pt: data.pkl: byte 0: 0x21 is no"},
    {"Empty", "", "x.pt: data.pkl: byte 0"},
    {"OsSystem",
     "\x80\x02"
     "cposix\nsystem\n" +
         PickledText("true") + "\x85R.",
     "byte 2: the file needs Python's 'posix.system'", StatusCode::kUnimplemented},
    {"StackGlobal",
     "\x80\x04\x8c\x08"
     "builtins\x8c\x04"
     "eval\x93.",
     "Python's 'builtins.eval'", StatusCode::kUnimplemented},
    {"Numpy", PickledDict("w", "cnumpy.core.multiarray\nscalar\n)R"),
     "Python's 'numpy.core.multiarray.scalar'", StatusCode::kUnimplemented},
    {"OtherStorage",
     PickledDict("w", PickledTensor(PickledStorage("ComplexFloatStorage", 4), 0, {4}, {1})),
     "Python's 'torch.ComplexFloatStorage'", StatusCode::kUnimplemented},
    {"EndlessName",
     "\x80\x02"
     "c" +
         std::string(1000, 'x'),
     "the name of an object has no end"},
    {"StackEmpty", "\x80\x02R.", "the pickle's stack is empty"},
    {"NoMark", "\x80\x02t.", "the pickle's stack has no mark"},
    {"TwoValues", "\x80\x02NN.", "ends with more than one value"},
    {"NoMemo", "\x80\x02h\x05.", "the memo has no number 5"},
    {"KeyWithoutValue", "\x80\x02}(Nu.", "a dict has a key without a value"},
    {"AppendToNothing", "\x80\x02NNa.", "the pickle adds to a list, which is not there"},
    {"AttributesOfNothing", "\x80\x02NNb.", "the pickle adds to a dict, which is not there"},
    {"CallOfText", "\x80\x02" + PickledText("x") + ")R.", "what is called is no function"},
    {"CallOfAStorage",
     "\x80\x02"
     "ctorch\nFloatStorage\n)R.",
     "'torch FloatStorage' is called"},
    {"HugeNumber", "\x80\x02\x8a\x09" + std::string(9, 1) + ".", "a number of 9 bytes",
     StatusCode::kUnimplemented},
    {"TextBeyondTheFile",
     "\x80\x02X\xff\xff\xff\x7f"
     "abc",
     "2147483647 bytes of text wanted"},
    {"TextIsNoUtf8", "\x80\x02X\x02\0\0\0\xc0\x80."s, "text is no UTF-8"},
    {"SameListAgainAndAgain",
     "\x80\x02"
     "ctorch\nSize\nq\x01(" +
         std::string(64, 'N') +
         "tq\x02\x85q\x03"
         "0" +
         [] {
           std::string s;
           for (int i = 0; i < 90; ++i) s += "h\x01h\x03R0";
           return s;
         }() +
         "N.",
     "calls have more arguments than there are bytes"},
    {"TooDeep", Nested(100), "lies in more than 64", StatusCode::kUnimplemented},
    {"ListThatHoldsItself", "\x80\x02]q\0h\0a."s, "lies in more than 64",
     StatusCode::kUnimplemented},
    {"KeyIsATuple", "\x80\x02}()Ns."s.replace(3, 1, ""), "a key of '' is a tuple",
     StatusCode::kUnimplemented},
    {"BareStorage", PickledDict("w", kFour), "'w' is a bare storage", StatusCode::kUnimplemented},
    {"TensorOfNothing", PickledDict("w", "ctorch._utils\n_rebuild_tensor_v2\n)R"),
     "'w' is a tensor without a storage"},
    {"ParameterOfNothing", PickledDict("w", "ctorch._utils\n_rebuild_parameter\n)R"),
     "'w' is a parameter without a tensor"},
    {"StorageOfText", PickledDict("w", PickledTensor(PickledText("x") + "Q", 0, {4}, {1})),
     "'w' has a storage without a type"},
    {"BeyondItsStorage", PickledDict("w", PickledTensor(kFour, 1, {4}, {1})),
     "'w' is float32[4] and reaches beyond its storage of 4 values"},
    {"StrideBeyondItsStorage", PickledDict("w", PickledTensor(kFour, 0, {2, 2}, {3, 1})),
     "reaches beyond"},
    {"NegativeSize",
     PickledDict("w", "ctorch._utils\n_rebuild_tensor_v2\n(" + kFour + "K\0"s +
                          "J\xff\xff\xff\xff\x85" + PickledNumbers({1}) + "tR"),
     "has a size or stride that is no number"},
    {"NegativeOffset",
     PickledDict("w", "ctorch._utils\n_rebuild_tensor_v2\n(" + kFour + "J\xff\xff\xff\xff" +
                          PickledNumbers({4}) + PickledNumbers({1}) + "tR"),
     "'w' begins before its storage"},
    {"StridesMissing", PickledDict("w", PickledTensor(kFour, 0, {2, 2}, {1})),
     "other than its strides"},
    {"Repeated", PickledDict("w", PickledTensor(kFour, 0, {100}, {0})),
     "save it with .contiguous()", StatusCode::kUnimplemented},
    {"SizesThatOverflow",
     PickledDict("w", "ctorch._utils\n_rebuild_tensor_v2\n(" + kFour + "K\0"s +
                          "\x8a\x06\0\0\0\0\0\x01"s + "\x8a\x06\0\0\0\0\0\x01"s + "\x86" +
                          PickledNumbers({0, 0}) + "tR"),
     "which no memory can hold"},
    {"StorageMissing",
     PickledDict("w", PickledTensor(PickledStorage("FloatStorage", 4, "7"), 0, {4}, {1})),
     "the values 'a/data/7' of a tensor are missing"},
    {"StorageOfOtherSize",
     PickledDict("w", PickledTensor(PickledStorage("FloatStorage", 5), 0, {4}, {1})),
     "'a/data/0' has 16 bytes, its tensors say 5 values of float32"},
    {"SameName",
     "\x80\x02}" + PickledText("w") + PickledTensor(kFour, 0, {4}, {1}) + "s" + PickledText("w") +
         PickledTensor(kFour, 0, {4}, {1}) + "s.",
     "two tensors are called 'w'", StatusCode::kInvalidArgument},
};

class PtBroken : public testing::TestWithParam<BrokenCase> {};

TEST_P(PtBroken, SaysWhatAndWhere) {
  const std::string bytes = PtArchive(GetParam().pickle, {{"data/0", Floats({1, 2, 3, 4})}});
  EXPECT_THAT(ParsePt(bytes), FailsWith(GetParam().code, GetParam().says));
  EXPECT_THAT(ParsePt(bytes), FailsWith(GetParam().code, "x.pt: "));
}

INSTANTIATE_TEST_SUITE_P(Cases, PtBroken, testing::ValuesIn(kBroken),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(PtFile, NamesALoneTensor) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const PtFile file, ParsePt(PtArchive("\x80\x02" + PickledTensor(kFour, 1, {3}, {1}) + ".",
                                           {{"data/0", Floats({1, 2, 3, 4})}})));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array array, file.Read("tensor"));
  EXPECT_THAT(array.values<float>(), testing::ElementsAre(2, 3, 4));
}

TEST(PtFile, SaysWhatOtherArchivesAre) {
  EXPECT_THAT(ParsePt(PtArchive("N.", {{"constants.pkl", "x"}})),
              FailsWith(StatusCode::kUnimplemented, "this is a TorchScript module"));
  EXPECT_THAT(ParsePt(PtArchive("N.", {{"byteorder", "big"}})),
              FailsWith(StatusCode::kUnimplemented, "its byte order is 'big'"));
  EXPECT_THAT(ParsePt("PK\x05\x06" + std::string(18, '\0')),
              FailsWith(StatusCode::kDataLoss, "this is no file of PyTorch"));
  EXPECT_THAT(ParsePt("hello"), FailsWith(StatusCode::kDataLoss, "this is no file of PyTorch"));
}

TEST(PtFile, NamesTheNearestTensorWhereOneIsMissing) {
  STOKER_ASSERT_OK_AND_ASSIGN(const PtFile file, ParsePt(Written(OneOfEveryKind())));
  EXPECT_THAT(file.Read("layer.flaot32"),
              FailsWith(StatusCode::kNotFound, "did you mean 'layer.float32'?"));
}

TEST(PtFile, RefusesTruthValuesThatAreNeitherTrueNorFalse) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const PtFile file,
      ParsePt(
          PtArchive(PickledDict("t", PickledTensor(PickledStorage("BoolStorage", 2), 0, {2}, {1})),
                    {{"data/0", "\x01\x02"}})));
  EXPECT_THAT(file.Read("t"), FailsWith(StatusCode::kDataLoss, "'t': value 1 is 0x02"));
}

TEST(PtFile, FailsAsOpeningDoes) {
  EXPECT_THAT(PtFile::Open("/no/such/file"),
              FailsWith(StatusCode::kNotFound, "there is no directory /no"));
}

}  // namespace stoker::pt_test
