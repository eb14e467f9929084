// HDF5 files for tests, written by the HDF5 library. Only tests, which link it, include this.
#pragma once

#include <gtest/gtest.h>
#include <hdf5/serial/hdf5.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/formats/chunked/row_gather.h"
#include "stoker/formats/copied_bytes_testing_internal.h"
#include "stoker/formats/hdf5/hdf5_file.h"
#include "stoker/io/file.h"

namespace stoker {

// The storage of a dataset.
struct Hdf5Storage {
  std::vector<hsize_t> chunk = {};  // none: contiguous
  std::vector<hsize_t> most = {};   // extents it may grow to; none: those it has
  int deflate = 0;
  bool shuffle = false, fletcher32 = false;
  bool compact = false, early = false;
  const void* fill = nullptr;  // one value
  hid_t as = -1;               // the type in the file; none: that in memory
};

// Writes a dataset of this shape; `values` null: nothing is written. Groups in the path are made.
inline void AddHdf5Dataset(hid_t file, const std::string& path, hid_t type,
                           const std::vector<hsize_t>& shape, const void* values,
                           const Hdf5Storage& storage = {}) {
  const hid_t in_file = storage.as < 0 ? type : storage.as;
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(),
                                       storage.most.empty() ? nullptr : storage.most.data());
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  if (!storage.chunk.empty())
    H5Pset_chunk(creation, static_cast<int>(shape.size()), storage.chunk.data());
  if (storage.compact) H5Pset_layout(creation, H5D_COMPACT);
  if (storage.early) H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  if (storage.shuffle) H5Pset_shuffle(creation);
  if (storage.deflate > 0) H5Pset_deflate(creation, static_cast<unsigned>(storage.deflate));
  if (storage.fletcher32) H5Pset_fletcher32(creation);
  if (storage.fill != nullptr) H5Pset_fill_value(creation, type, storage.fill);
  const hid_t dataset =
      H5Dcreate2(file, path.c_str(), in_file, space, links, creation, H5P_DEFAULT);
  EXPECT_GE(dataset, 0) << path;
  if (values != nullptr) {
    EXPECT_GE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0) << path;
  }
  H5Dclose(dataset), H5Pclose(creation), H5Pclose(links), H5Sclose(space);
}

// Writes a file through `add`; `latest`: in the newest form that the library knows.
inline void WriteHdf5(const std::string& path, bool latest, const std::function<void(hid_t)>& add,
                      hsize_t user_block = 0) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
  if (latest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  if (user_block > 0) H5Pset_userblock(creation, user_block);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access);
  ASSERT_GE(file, 0) << path;
  add(file);
  H5Fclose(file), H5Pclose(access), H5Pclose(creation);
}

// Returns the bytes of such a file.
inline std::string Hdf5Of(bool latest, const std::function<void(hid_t)>& add) {
  const TempDir dir;
  WriteHdf5(dir / "a.h5", latest, add);
  return *ReadTextFile(dir / "a.h5");
}

inline Result<Hdf5File> ParseHdf5(std::string_view bytes) {
  return Hdf5File::Parse(CopyOf(std::as_bytes(std::span(bytes))), "x.h5");
}

// Returns all rows of a dataset of numbers, one after the other, as their dtype.
inline Result<std::vector<std::byte>> ValuesOf(const ChunkedArray& array) {
  std::vector<int64_t> rows(static_cast<size_t>(array.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  const ChunkedLayout& layout = array.layout();
  const size_t values = rows.size() * (array.stored_row_bytes() / layout.value_bytes);
  std::vector<std::byte> out(values * DTypeSize(layout.dtype));
  STOKER_RETURN_IF_ERROR(GatherRows(
      array, rows, [&](int64_t number) { return array.ReadChunk(number); },
      out.data() + values * (DTypeSize(layout.dtype) - layout.value_bytes)));
  STOKER_RETURN_IF_ERROR(ConvertStored(layout.value, out.data(), values));
  return out;
}

template <typename T>
Result<std::vector<T>> NumbersOf(const Hdf5File& file, const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const auto array, file.OpenDataset(path));
  EXPECT_EQ(array->layout().dtype, DTypeOf<T>()) << path;
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ValuesOf(*array));
  std::vector<T> numbers(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

// Row `row`, which the array follows, as its bytes.
inline Result<Array> FollowedRow(const ChunkedArray& array, int64_t row) {
  std::vector<std::byte> stored(array.stored_row_bytes());
  STOKER_RETURN_IF_ERROR(GatherRows(
      array, {&row, 1}, [&](int64_t number) { return array.ReadChunk(number); }, stored.data()));
  return array.Follow(stored,
                      [](DType dtype, Shape shape) { return Array::Allocate(dtype, shape); });
}
inline Result<std::string> TextAt(const Hdf5File& file, const std::string& path, int64_t row) {
  STOKER_ASSIGN_OR_RETURN(const auto array, file.OpenDataset(path));
  STOKER_ASSIGN_OR_RETURN(const Array text, FollowedRow(*array, row));
  return std::string(reinterpret_cast<const char*>(text.data()), text.num_bytes());
}

inline std::vector<int32_t> MixedNumbers(size_t count) {
  std::vector<int32_t> numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<int32_t>(i * 7 % 1000) - 300;
  return numbers;
}

inline constexpr hsize_t kEndless = H5S_UNLIMITED;

}  // namespace stoker
