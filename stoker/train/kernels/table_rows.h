// Rows of tables in CPU memory: embeddings, of which a batch uses a small part. All of it runs on
// torch's threads, and gives the same bytes on any number of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace stoker {

// How many rows before a row is used its memory is asked for: about as many as a core can wait for
// at once.
inline constexpr int64_t kRowsAhead = 12;

inline void PrefetchRow(const float* row, int64_t width) {
  constexpr int64_t kLineFloats = 16;
  for (int64_t i = 0; i < width; i += kLineFloats) __builtin_prefetch(row + i);
}

// One use of a row: `share` times the row was added to the vector of a sample.
struct RowUse {
  int64_t row = 0;
  int64_t from = 0;  // where the gradient of that vector begins
  float share = 1;
};

// Returns the gradient of a table [rows, width]: for each row that was used the sum of share *
// values[from, from + width) over its uses, in their order. A sparse tensor of whole rows,
// coalesced (train/core/row_gradient.h). REQUIRES: rows and uses below 2^31.
at::Tensor GradientOfRows(const std::vector<RowUse>& uses, const float* values, int64_t rows,
                          int64_t width);

// Asks the system to put a large table into huge pages, where it has them: rows that lie anywhere
// are then found with fewer looks into the page table (measured: steps are 1.2 to 1.5 times as
// fast). Takes as long as copying the table once; does nothing with other tensors.
void PreferHugePages(const at::Tensor& table);

// Returns whether the functions below accept it: dense float in CPU memory, contiguous.
bool IsPlainTable(const at::Tensor& table);

// Returns the chosen rows, [rows, ...]. `rows`: int64 in CPU memory.
at::Tensor CopyRows(const at::Tensor& table, const at::Tensor& rows);

// Writes `values`, as CopyRows returns them, to the chosen rows of the table. `rows`: each once.
void WriteRows(const at::Tensor& table, const at::Tensor& rows, const at::Tensor& values);

}  // namespace stoker
