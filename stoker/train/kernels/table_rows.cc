#include "stoker/train/kernels/table_rows.h"

#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "stoker/train/kernels/value_ranges.h"

namespace stoker {
namespace {

// A row in the upper half, the number of its use in the lower one: sorted by rows, the uses of one
// row stay in their order.
std::vector<uint64_t> KeysOf(const std::vector<RowUse>& uses) {
  std::vector<uint64_t> keys(uses.size());
  for (size_t i = 0; i < uses.size(); ++i) keys[i] = static_cast<uint64_t>(uses[i].row) << 32 | i;
  return keys;
}

// By the digits of the rows from the lowest on (Knuth, "Sorting and Searching", 5.2.5).
void SortByRow(std::vector<uint64_t>& keys, int64_t rows) {
  constexpr int kDigitBits = 11;
  constexpr size_t kFew = 4096;  // where counting costs more than comparing
  if (keys.size() < kFew) {
    std::ranges::sort(keys);
    return;
  }
  std::vector<uint64_t> other(keys.size());
  const int end = 32 + std::bit_width(static_cast<uint64_t>(rows - 1));
  for (int shift = 32; shift < end; shift += kDigitBits) {
    std::array<uint32_t, 1 << kDigitBits> places = {};
    const auto digit = [&](uint64_t key) { return (key >> shift) & (places.size() - 1); };
    for (const uint64_t key : keys) ++places[digit(key)];
    uint32_t begin = 0;
    for (uint32_t& place : places) begin += std::exchange(place, begin);
    for (const uint64_t key : keys) other[places[digit(key)]++] = key;
    keys.swap(other);
  }
}

// Where the uses of each row begin, and the end.
std::vector<int64_t> BeginsOf(const std::vector<uint64_t>& keys) {
  std::vector<int64_t> begins;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i == 0 || keys[i] >> 32 != keys[i - 1] >> 32) begins.push_back(static_cast<int64_t>(i));
  }
  begins.push_back(std::ssize(keys));
  return begins;
}

}  // namespace

at::Tensor GradientOfRows(const std::vector<RowUse>& uses, const float* values, int64_t rows,
                          int64_t width) {
  TORCH_CHECK(std::max(rows, std::ssize(uses)) <= std::numeric_limits<int32_t>::max(),
              "GradientOfRows takes fewer than 2^31 rows and uses");
  std::vector<uint64_t> keys = KeysOf(uses);
  SortByRow(keys, rows);
  const std::vector<int64_t> begins = BeginsOf(keys);
  const int64_t used = std::ssize(begins) - 1;
  at::Tensor numbers = at::empty({1, used}, at::kLong);
  at::Tensor sums = at::empty({used, width}, at::kFloat);
  auto* const number = numbers.data_ptr<int64_t>();
  auto* const sum = sums.data_ptr<float>();
  ForRangesOfValues(used, used * width, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto first = static_cast<size_t>(begins[static_cast<size_t>(i)]);
      const auto last = static_cast<size_t>(begins[static_cast<size_t>(i) + 1]);
      number[i] = static_cast<int64_t>(keys[first] >> 32);
      float* const to = sum + i * width;
      std::fill_n(to, width, 0.0f);
      for (size_t k = first; k < last; ++k) {
        const RowUse& use = uses[static_cast<uint32_t>(keys[k])];
        const float* const from = values + use.from;
        for (int64_t j = 0; j < width; ++j) to[j] += use.share * from[j];
      }
    }
  });
  return at::_sparse_coo_tensor_unsafe(numbers, sums, {rows, width},
                                       sums.options().layout(at::kSparse),
                                       /*is_coalesced=*/true);
}

bool IsPlainTable(const at::Tensor& table) {
  return table.dim() >= 1 && table.is_cpu() && table.layout() == at::kStrided &&
         table.scalar_type() == at::kFloat && table.is_contiguous();
}

void PreferHugePages(const at::Tensor& table) {
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  constexpr size_t kLarge = 16 * kHugePage;
  constexpr int kCollapse = 25;  // MADV_COLLAPSE of Linux 6.1, which older headers lack
  if (!IsPlainTable(table) || table.nbytes() < kLarge) return;
  const auto begin = reinterpret_cast<uintptr_t>(table.data_ptr());
  const uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t end = (begin + table.nbytes()) / kHugePage * kHugePage;
  auto* const pages = reinterpret_cast<void*>(first);  // NOLINT(performance-no-int-to-ptr)
  // Without huge pages the table is only slower.
  if (::madvise(pages, end - first, MADV_HUGEPAGE) == 0) ::madvise(pages, end - first, kCollapse);
}

at::Tensor CopyRows(const at::Tensor& table, const at::Tensor& rows) {
  std::vector<int64_t> sizes = table.sizes().vec();
  sizes[0] = rows.numel();
  at::Tensor copies = at::empty(sizes, table.options());
  const int64_t width = copies.numel() / std::max<int64_t>(sizes[0], 1);
  const auto* const row = rows.const_data_ptr<int64_t>();
  const auto* const from = table.const_data_ptr<float>();
  auto* const to = copies.data_ptr<float>();
  ForRangesOfValues(sizes[0], copies.numel(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (i + kRowsAhead < end) PrefetchRow(from + row[i + kRowsAhead] * width, width);
      std::memcpy(to + i * width, from + row[i] * width,
                  static_cast<size_t>(width) * sizeof(float));
    }
  });
  return copies;
}

void WriteRows(const at::Tensor& table, const at::Tensor& rows, const at::Tensor& values) {
  const int64_t count = rows.numel();
  const int64_t width = values.numel() / std::max<int64_t>(count, 1);
  const auto* const row = rows.const_data_ptr<int64_t>();
  const auto* const from = values.const_data_ptr<float>();
  auto* const to = table.data_ptr<float>();
  ForRangesOfValues(count, values.numel(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (i + kRowsAhead < end) PrefetchRow(to + row[i + kRowsAhead] * width, width);
      std::memcpy(to + row[i] * width, from + i * width,
                  static_cast<size_t>(width) * sizeof(float));
    }
  });
}

}  // namespace stoker
