// Cuts photographs into a small data set for telling them apart: tiles of 500 x 375 pixels, the
// class of a tile is the photograph that it was cut from, and no pixel of a test tile is in a train
// tile.
// clang-format off
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "stoker/image/decode.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kWidth = 500, kHeight = 375;
constexpr int64_t kStep = 125;  // between the places where train tiles may begin
constexpr size_t kMostTrainTiles = 64, kMostTestTiles = 16;  // of one photograph

// How the tiles of one set are encoded.
struct JpegSet {
  const char* name;
  int quality;
  int subsampling;  // of the colours, in both directions
};
constexpr JpegSet kSets[] = {{"q92-420", 92, 2}, {"q98-444", 98, 1}};

struct Place {
  int64_t y = 0;
  int64_t x = 0;
};

bool Overlap(const Place& a, const Place& b) {
  return std::abs(a.y - b.y) < kHeight && std::abs(a.x - b.x) < kWidth;
}

// At most so many of them, spread evenly.
std::vector<Place> Thinned(const std::vector<Place>& places, size_t most) {
  if (places.size() <= most) return places;
  std::vector<Place> kept;
  for (size_t i = 0; i < most; ++i) kept.push_back(places[i * places.size() / most]);
  return kept;
}

struct Tiling {
  std::vector<Place> train;
  std::vector<Place> test;
};

// A fourth of the cells of a grid, in a slanted pattern, are test tiles; train tiles begin anywhere
// on a finer grid where they touch none of them.
Tiling TilingOf(int64_t height, int64_t width) {
  Tiling tiling;
  for (int64_t row = 0; (row + 1) * kHeight <= height; ++row) {
    for (int64_t column = 0; (column + 1) * kWidth <= width; ++column) {
      if ((column + 2 * row) % 4 == 3) tiling.test.push_back({row * kHeight, column * kWidth});
    }
  }
  for (int64_t y = 0; y + kHeight <= height; y += kStep) {
    for (int64_t x = 0; x + kWidth <= width; x += kStep) {
      const Place place{y, x};
      if (std::ranges::none_of(tiling.test, [&](const Place& t) { return Overlap(place, t); }))
        tiling.train.push_back(place);
    }
  }
  return {Thinned(tiling.train, kMostTrainTiles), Thinned(tiling.test, kMostTestTiles)};
}

// A JPEG of `pixels`, kHeight rows of RGB. libjpeg itself ends the program where it fails, which
// with memory as its target means that there is none.
std::string EncodeJpeg(const PixelRows& pixels, const JpegSet& set) {
  jpeg_compress_struct cinfo = {};
  jpeg_error_mgr errors;
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_compress(&cinfo);
  unsigned char* encoded = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's type
  jpeg_mem_dest(&cinfo, &encoded, &size);
  cinfo.image_width = kWidth;
  cinfo.image_height = kHeight;
  cinfo.input_components = 3;
  cinfo.in_color_space = JCS_RGB;
  jpeg_set_defaults(&cinfo);
  jpeg_set_quality(&cinfo, set.quality, TRUE);
  cinfo.comp_info[0].h_samp_factor = cinfo.comp_info[0].v_samp_factor = set.subsampling;
  jpeg_start_compress(&cinfo, TRUE);
  for (int64_t y = 0; y < kHeight; ++y) {
    JSAMPROW row = pixels.row(y);
    jpeg_write_scanlines(&cinfo, &row, 1);
  }
  jpeg_finish_compress(&cinfo);
  jpeg_destroy_compress(&cinfo);
  std::string jpeg(reinterpret_cast<const char*>(encoded), size);
  std::free(encoded);
  return jpeg;
}

struct Count {
  int64_t files = 0;
  uint64_t bytes = 0;
};

class Cutter {
 public:
  explicit Cutter(fs::path out) : out_(std::move(out)) {}

  Status Cut(const std::string& path) {
    STOKER_ASSIGN_OR_RETURN(const Buffer file, ReadWholeFile(path));
    STOKER_ASSIGN_OR_RETURN(const Array photograph, DecodeImage({file.data(), file.size()}, path));
    const int64_t height = photograph.shape()[0], width = photograph.shape()[1];
    const Tiling tiling = TilingOf(height, width);
    if (tiling.train.empty() || tiling.test.empty()) {
      return InvalidArgument("{}: {} x {} pixels are too few for train and test tiles of {} x {}",
                             path, width, height, kWidth, kHeight);
    }
    const std::string name = fs::path(path).stem().string();
    STOKER_RETURN_IF_ERROR(WriteTiles(photograph, tiling.train, fs::path("train") / name));
    return WriteTiles(photograph, tiling.test, fs::path("test") / name);
  }

  void Report() const {
    for (size_t i = 0; i < std::size(kSets); ++i) {
      const int64_t files = std::max<int64_t>(counts_[i].files, 1);
      fmt::print("{}: {} tiles of {} x {}, {} KB each, {:.0f} MB\n", kSets[i].name,
                 counts_[i].files, kWidth, kHeight,
                 counts_[i].bytes / static_cast<uint64_t>(files) / 1000,
                 static_cast<double>(counts_[i].bytes) / 1e6);
    }
  }

 private:
  Status WriteTiles(const Array& photograph, const std::vector<Place>& places,
                    const fs::path& folder) {
    const int64_t stride = photograph.shape()[1] * 3;
    for (size_t i = 0; i < std::size(kSets); ++i) {
      const fs::path to = out_ / kSets[i].name / folder;
      std::error_code error;
      fs::create_directories(to, error);
      if (error) return ErrnoStatus(error.value(), to.string());
      for (const Place& place : places) {
        const PixelRows pixels{photograph.values<uint8_t>().data() + place.y * stride + place.x * 3,
                               stride};
        const std::string jpeg = EncodeJpeg(pixels, kSets[i]);
        const fs::path file = to / fmt::format("y{:05}-x{:05}.jpg", place.y, place.x);
        std::ofstream stream(file, std::ios::binary);
        stream.write(jpeg.data(), std::ssize(jpeg));
        if (!stream.flush()) return ErrnoStatus(errno, file.string() + ": cannot write");
        counts_[i].files += 1;
        counts_[i].bytes += jpeg.size();
      }
    }
    return OkStatus();
  }

  const fs::path out_;
  Count counts_[std::size(kSets)];
};

int Main(std::span<char*> arguments) {
  if (arguments.size() < 3) {
    fmt::print(stderr,
               "Usage: cut_photos FOLDER PHOTOGRAPH ...\n"
               "Writes FOLDER/SET/train and FOLDER/SET/test, with a folder of tiles for each "
               "photograph, for the sets q92-420 and q98-444 (JPEG quality and subsampling).\n");
    return 2;
  }
  Cutter cutter(arguments[1]);
  for (const char* photograph : arguments.subspan(2)) {
    if (const Status status = cutter.Cut(photograph); !status.ok()) {
      fmt::print(stderr, "cut_photos: error: {}\n", status.message());
      return 1;
    }
  }
  cutter.Report();
  return 0;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main({argv, static_cast<size_t>(argc)}); }
