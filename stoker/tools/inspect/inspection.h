// What `stoker inspect` finds out about one thing, for people and for programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

struct Inspection {
  std::string text = {};  // whole lines
  // The same facts. Of every data file "format", "count" (of what the format's source would make
  // samples of; null where that is not one number) and "fields", by their names.
  Json json = {};
  Status damage = {};  // what is wrong with it, where it could be described all the same
};

// A file, by its content: IDX (also inside gzip), TFRecord, safetensors, PyTorch's .pt, tar, zip,
// .npy, .npz, RecordIO, LMDB, HDF5, .stoker, the elements of a cache, pictures, text, by its name
// N5, CSV, JSON lines and LIBSVM, a recipe (YAML with a section `data`, `model` or `train`); of
// other kinds the name and size, and what is around them ("compressed": "gzip", "zstd", "xz" or
// "bzip2"). Everything that has a checksum or announces its size is read and checked. The first
// `samples` samples are shown, where a source reads the format.
Result<Inspection> InspectFile(const std::string& path, int64_t samples = 0);

// An IDX file, plain or compressed: type, shape, range, mean and standard deviation; for labels how
// many there are of each.
Result<Inspection> InspectIdx(const std::string& path);

// CSV or TSV, plain or compressed: rows, and the fields that `csv` would make of the columns.
Result<Inspection> InspectCsv(const std::string& path);

// JSON lines likewise: the fields that `jsonl` would make of the members.
Result<Inspection> InspectJsonl(const std::string& path);

// LIBSVM: rows, and the largest index of a feature.
Result<Inspection> InspectLibsvm(const std::string& path);

// A tar archive, plain or compressed: members, and the samples of WebDataset with their fields.
Result<Inspection> InspectTar(const std::string& path);

// A zip archive likewise; every checksum is verified.
Result<Inspection> InspectZip(const std::string& path);

// Whether a file is a picture that Stoker decodes: by its first bytes, or where these are too few
// to be sure (BMP, PNM), by its name or its whole header too. False where it cannot be read.
bool IsPicture(const std::string& path);

// Whether a file's name says that it should be one.
bool IsNamedAsPicture(const std::string& path);

// A picture: format, height, width and channels, by its header. The pixels are not decoded.
Result<Inspection> InspectPicture(const std::string& path);

// HDF5: type, shape and chunks of each dataset; every chunk is read.
Result<Inspection> InspectHdf5(const std::string& path);

// N5, a container's or dataset's folder, or the attributes.json in it: likewise.
Result<Inspection> InspectN5(const std::string& path);
// Whether the path is one of those.
bool IsN5(const std::string& path);

// An LMDB data file: how many values its main database has, and their sizes.
Result<Inspection> InspectLmdb(const std::string& path);

// A NumPy array: type and shape.
Result<Inspection> InspectNpy(const std::string& path);

// A .npz file: types and shapes of its arrays.
Result<Inspection> InspectNpz(const std::string& path);

// RecordIO: records and their sizes, and how many labels they have as image records.
Result<Inspection> InspectRecordIo(const std::string& path);

// A .stoker shard: records, pages and fields; all of it is checked.
Result<Inspection> InspectStoker(const std::string& path);

// The file of a `cache` or `snapshot`: records and fields; each record is checked.
Result<Inspection> InspectElements(const std::string& path);

// Lines of text as `lines` reads them: how many, and how long they are. `compression`: what is
// around them ("gzip", "zstd", "xz", "bzip2"), where something is.
Result<Inspection> InspectText(const std::string& path, std::string_view compression);

// TFRecord, plain or compressed: records and their sizes; of tf.train.Examples and SequenceExamples
// the features.
Result<Inspection> InspectTfRecord(const std::string& path);

// Names, types and shapes of the tensors, and the metadata.
Result<Inspection> InspectSafetensors(const std::string& path);

// Names, types and shapes of the tensors, and the numbers and texts beside them.
Result<Inspection> InspectPt(const std::string& path);

// The sections, and each pipeline stage by stage with the elements that come out. Opens the data
// files for their headers. `assignments` are applied first (`--set`).
Result<Inspection> InspectRecipe(const std::string& path,
                                 const std::vector<std::string>& assignments = {});

// Writes the pictures of the first batch of data.train, as the network gets them, side by side into
// the PNG file `to`, and tells their labels.
Result<Inspection> InspectGrid(const std::string& path, const std::vector<std::string>& assignments,
                               const std::string& to);

// Every operator of recipes, or the one called `name` with all about its options. Errors:
// kInvalidArgument for an unknown name, with the nearest known one.
Result<Inspection> InspectOperators(const std::string& name);

}  // namespace stoker
