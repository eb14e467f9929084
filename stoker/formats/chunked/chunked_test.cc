#include <cstring>

#include "stoker/base/testing.h"
#include "stoker/formats/chunked/inflate_block.h"
#include "stoker/formats/chunked/row_gather.h"
#include "stoker/io/gzip.h"

namespace stoker::chunked_test {

// An array of int16 in memory, its values their places in C order, in chunks that are stored whole
// or cut at the edges; chunk `missing` was never written.
class InMemory final : public ChunkedArray {
 public:
  InMemory(Shape shape, Shape chunk, bool cut, int64_t missing)
      : ChunkedArray({.name = "x",
                      .shape = std::move(shape),
                      .chunk_shape = std::move(chunk),
                      .value = {StoredKind::kSigned, 2},
                      .value_bytes = 2,
                      .dtype = DType::kInt16,
                      .fill = std::string("\xff\xff", 2)}),
        cut_(cut),
        missing_(missing) {}

  Result<StoredChunk> DoReadChunk(int64_t number,
                                  const std::shared_ptr<MemoryAccount>&) const override {
    StoredChunk out;
    if (number == missing_) return out;
    const size_t rank = grid().size();
    Shape first(rank);
    for (size_t d = rank; d-- > 0; number /= grid()[d])
      first[d] = number % grid()[d] * layout().chunk_shape[d];
    for (size_t d = 0; d < rank; ++d) {
      const int64_t left = layout().shape[d] - first[d];
      out.shape.push_back(cut_ ? std::min(layout().chunk_shape[d], left) : layout().chunk_shape[d]);
    }
    out.owner = Buffer::Allocate(static_cast<size_t>(NumValues(out.shape)) * 2);
    out.data = out.owner.data();
    auto* const values = reinterpret_cast<int16_t*>(out.owner.data());
    for (int64_t i = 0; i < NumValues(out.shape); ++i) {
      int64_t place = 0, rest = i, within = NumValues(out.shape);
      for (size_t d = 0; d < rank; ++d) {
        within /= out.shape[d];
        place = place * layout().shape[d] + first[d] + rest / within;
        rest %= within;
      }
      values[i] = static_cast<int16_t>(place);
    }
    return out;
  }
  Result<std::vector<int64_t>> WrittenChunks() const override { return std::vector<int64_t>(); }

 private:
  const bool cut_;
  const int64_t missing_;
};

TEST(GatherRows, GivesRowsWhateverTheShapesOfArrayAndChunks) {
  const std::pair<Shape, Shape> cases[] = {{{7}, {3}},
                                           {{7}, {100}},
                                           {{5, 6}, {2, 6}},
                                           {{5, 6}, {2, 4}},
                                           {{5, 6}, {5, 1}},
                                           {{4, 3, 5}, {3, 2, 5}},
                                           {{4, 3, 5}, {1, 3, 2}},
                                           {{3, 2, 3, 4}, {2, 2, 2, 3}}};
  for (const auto& [shape, chunk] : cases) {
    for (const bool cut : {false, true}) {
      SCOPED_TRACE(ShapeToString(shape) + ShapeToString(chunk) + (cut ? " cut" : ""));
      const InMemory array(shape, chunk, cut, -1);
      const auto row_values = static_cast<size_t>(NumValues(shape) / shape[0]);
      const std::vector<int64_t> rows = {2, 0, shape[0] - 1, 1, 1};
      std::vector<int16_t> out(rows.size() * row_values + 1, 77), want;
      STOKER_ASSERT_OK(GatherRows(
          array, rows, [&](int64_t number) { return array.ReadChunk(number); },
          reinterpret_cast<std::byte*>(out.data())));
      for (const int64_t row : rows) {
        for (size_t i = 0; i < row_values; ++i)
          want.push_back(static_cast<int16_t>(static_cast<size_t>(row) * row_values + i));
      }
      want.push_back(77);
      EXPECT_EQ(out, want);
    }
  }
}

TEST(GatherRows, AChunkThatWasNeverWrittenIsTheFillValue) {
  const InMemory array({2, 4}, {2, 2}, false, /*missing=*/1);
  std::vector<int16_t> out(4);
  const int64_t row = 1;
  STOKER_ASSERT_OK(GatherRows(
      array, {&row, 1}, [&](int64_t number) { return array.ReadChunk(number); },
      reinterpret_cast<std::byte*>(out.data())));
  EXPECT_EQ(out, (std::vector<int16_t>{4, 5, -1, -1}));
}

TEST(InflateBlock, TakesABlockOfExactlyTheSizeThatIsWanted) {
  const std::string text(1000, 'x');
  const std::vector<std::byte> packed = *GzipCompress(std::as_bytes(std::span(text)));
  std::string out(1001, 'y');
  const auto inflate = [&](size_t from, size_t to) {
    return InflateBlock(BlockForm::kGzip, std::span(packed).first(from),
                        std::as_writable_bytes(std::span(out)).first(to));
  };
  STOKER_ASSERT_OK(inflate(packed.size(), 1000));
  EXPECT_EQ(out, text + "y");
  for (const size_t size : {0, 999, 1001}) EXPECT_FALSE(inflate(packed.size(), size).ok()) << size;
  for (size_t cut = 0; cut < packed.size(); ++cut) EXPECT_FALSE(inflate(cut, 1000).ok()) << cut;
  EXPECT_FALSE(InflateBlock(BlockForm::kZstd, packed, std::as_writable_bytes(std::span(out))).ok());
}

TEST(CheckLayout, RefusesSizesThatNoMachineCanAddress) {
  const auto check = [](Shape shape, Shape chunk) {
    return CheckLayout({.name = "x",
                        .shape = std::move(shape),
                        .chunk_shape = std::move(chunk),
                        .value = {StoredKind::kFloat, 8},
                        .value_bytes = 8,
                        .dtype = DType::kFloat64},
                       /*file_bytes=*/1000);
  };
  constexpr int64_t kLarge = int64_t{1} << 40;
  STOKER_ASSERT_OK(check({kLarge, 2}, {4, 2}));  // rows need not have been written
  EXPECT_THAT(check({kLarge, kLarge}, {1, 1}), FailsWith(StatusCode::kDataLoss, "an array of"));
  EXPECT_THAT(check({2, 2}, {kLarge, kLarge}), FailsWith(StatusCode::kDataLoss, "a chunk of"));
  EXPECT_THAT(check({2, kLarge}, {1, 1}), FailsWith(StatusCode::kDataLoss, "a row of"));
  EXPECT_THAT(check({}, {}), FailsWith(StatusCode::kInvalidArgument, "a single value"));
}

}  // namespace stoker::chunked_test
