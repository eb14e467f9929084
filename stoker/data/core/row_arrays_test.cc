#include "stoker/data/core/row_arrays.h"

#include <set>

#include "stoker/base/buffer.h"
#include "stoker/base/ledger.h"
#include "stoker/base/testing.h"

namespace stoker::row_arrays_test {

// Takes the whole row for each text, and leaves numbers as they are.
struct TextParser {
  Status Parse(std::string_view row, const std::vector<std::byte*>& memory,
               std::vector<std::string>& loose) const {
    for (size_t f = 0; f < memory.size(); ++f)
      if (memory[f] == nullptr) loose[f] = std::string(row);
    return OkStatus();
  }
};

std::vector<Field> Fields(int64_t scalars) {
  std::vector<Field> fields = {{"text", DType::kUInt8, {kUnknownDim}},
                               {"wide", DType::kFloat32, {100}},
                               {"none", DType::kFloat32, {0}},
                               {"three", DType::kUInt8, {3}}};
  for (int64_t i = 0; i < scalars; ++i)
    fields.push_back({fmt::format("n{}", i), DType::kInt64, {}});
  return fields;
}

TEST(RoomForFields, FieldsOfFewBytesShareABlockAndNoneOverlaps) {
  BufferPool pool{nullptr, 1 << 20};
  Scratch scratch(pool);
  const std::vector<Array> arrays = RoomForFields(Fields(3), scratch);
  ASSERT_EQ(arrays.size(), 7u);
  EXPECT_EQ(arrays[0].data(), nullptr);
  EXPECT_TRUE(arrays[1].buffer().exclusive());
  std::set<const std::byte*> taken;
  for (const size_t f : {3, 4, 5, 6}) {
    EXPECT_FALSE(arrays[f].buffer().exclusive()) << f;  // so that nothing writes into it in place
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arrays[f].data()) % 8, 0u);
    for (size_t byte = 0; byte < arrays[f].num_bytes(); ++byte)
      EXPECT_TRUE(taken.insert(arrays[f].data() + byte).second);
  }
  EXPECT_EQ(arrays[4].shape(), Shape());
  EXPECT_EQ(arrays[3].dtype(), DType::kUInt8);
}

TEST(RoomForFields, OneThatOutlivesTheOthersKeepsAFewBytesOfThem) {
  const auto ledger = Ledger::Create(1 << 20);
  BufferPool pool(ledger->OpenAccount("rows"), /*max_idle_bytes=*/0);
  Scratch scratch(pool);
  std::vector<Array> arrays = RoomForFields(Fields(500), scratch);
  const Array last = arrays.back();
  arrays.clear();
  EXPECT_LE(ledger->bytes(), 4 * static_cast<int64_t>(kBufferAlignment));
}

TEST(ArraysOfRow, AFieldOfUnknownLengthHasTheBytesThatTheParserSets) {
  BufferPool pool{nullptr, 1 << 20};
  Scratch scratch(pool);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Array> arrays,
                              ArraysOfRow(Fields(1), TextParser(), "oak", scratch));
  EXPECT_EQ(arrays[0].shape(), Shape{3});
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(arrays[0].data()), 3), "oak");
}

}  // namespace stoker::row_arrays_test
