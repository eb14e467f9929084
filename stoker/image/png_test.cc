#include "stoker/image/png.h"

#include <spng.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "stoker/base/testing.h"

namespace stoker::png_test {

struct Picture {
  uint32_t width, height;
  uint8_t color_type, bit_depth = 8, interlace = 0;
  std::vector<uint8_t> palette = {};  // r, g, b of each entry
};

// A PNG with these rows, packed as the format wants them (16-bit samples in host order).
std::string Encode(const Picture& picture, const std::vector<uint8_t>& rows) {
  spng_ctx* context = spng_ctx_new(SPNG_CTX_ENCODER);
  spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
  spng_ihdr header{.width = picture.width,
                   .height = picture.height,
                   .bit_depth = picture.bit_depth,
                   .color_type = picture.color_type,
                   .compression_method = 0,
                   .filter_method = 0,
                   .interlace_method = picture.interlace};
  EXPECT_EQ(spng_set_ihdr(context, &header), 0);
  if (!picture.palette.empty()) {
    spng_plte palette{};
    palette.n_entries = static_cast<uint32_t>(picture.palette.size() / 3);
    for (uint32_t i = 0; i < palette.n_entries; ++i) {
      const uint8_t* rgb = &picture.palette[size_t{3} * i];
      palette.entries[i] = {rgb[0], rgb[1], rgb[2], 255};
    }
    EXPECT_EQ(spng_set_plte(context, &palette), 0);
  }
  EXPECT_EQ(
      spng_encode_image(context, rows.data(), rows.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE), 0);
  size_t size = 0;
  int error = 0;
  void* buffer = spng_get_png_buffer(context, &size, &error);
  std::string png(static_cast<const char*>(buffer), size);
  std::free(buffer);
  spng_ctx_free(context);
  return png;
}

std::span<const std::byte> BytesOf(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
Result<Array> Decode(std::string_view png) { return DecodePng(BytesOf(png), "picture.png"); }

std::vector<int> PixelValues(const Array& image) {
  const auto values = image.values<uint8_t>();
  return {values.begin(), values.end()};
}

constexpr uint8_t kGrey = SPNG_COLOR_TYPE_GRAYSCALE, kRgb = SPNG_COLOR_TYPE_TRUECOLOR,
                  kPalette = SPNG_COLOR_TYPE_INDEXED, kGreyAlpha = SPNG_COLOR_TYPE_GRAYSCALE_ALPHA,
                  kRgba = SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;

TEST(DecodePng, ReadsGreyAsOneChannel) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image,
                              Decode(Encode({3, 2, kGrey}, {1, 2, 3, 4, 5, 255})));
  EXPECT_EQ(image.ToString(), "uint8[1, 2, 3]");
  EXPECT_THAT(PixelValues(image), testing::ElementsAre(1, 2, 3, 4, 5, 255));
}

TEST(DecodePng, PutsColoursIntoPlanes) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image,
                              Decode(Encode({2, 1, kRgb}, {10, 20, 30, 11, 21, 31})));
  EXPECT_EQ(image.shape(), (Shape{3, 1, 2}));
  EXPECT_THAT(PixelValues(image), testing::ElementsAre(10, 11, 20, 21, 30, 31));
}

TEST(DecodePng, DropsTransparency) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array grey,
                              Decode(Encode({2, 1, kGreyAlpha}, {10, 0, 20, 255})));
  EXPECT_EQ(grey.shape(), (Shape{1, 1, 2}));
  EXPECT_THAT(PixelValues(grey), testing::ElementsAre(10, 20));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array colour, Decode(Encode({1, 1, kRgba}, {1, 2, 3, 0})));
  EXPECT_THAT(PixelValues(colour), testing::ElementsAre(1, 2, 3));
}

TEST(DecodePng, KeepsTheHighByteOf16BitSamples) {
  const std::vector<uint16_t> samples = {0x0000, 0x12ff, 0xffff};
  std::vector<uint8_t> row(6);
  std::memcpy(row.data(), samples.data(), row.size());
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Decode(Encode({3, 1, kGrey, 16}, row)));
  EXPECT_THAT(PixelValues(image), testing::ElementsAre(0x00, 0x12, 0xff));
}

TEST(DecodePng, ScalesFewBitsToBytes) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array two, Decode(Encode({4, 1, kGrey, 2}, {0b00011011})));
  EXPECT_THAT(PixelValues(two), testing::ElementsAre(0, 85, 170, 255));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array one, Decode(Encode({3, 1, kGrey, 1}, {0b10100000})));
  EXPECT_THAT(PixelValues(one), testing::ElementsAre(255, 0, 255));
}

TEST(DecodePng, LooksPalettesUp) {
  const Picture picture{
      .width = 3, .height = 1, .color_type = kPalette, .palette = {1, 2, 3, 9, 8, 7}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Decode(Encode(picture, {1, 0, 1})));
  EXPECT_THAT(PixelValues(image), testing::ElementsAre(9, 1, 9, 8, 2, 8, 7, 3, 7));
}

TEST(DecodePng, ReadsInterlacedPictures) {
  std::vector<uint8_t> rows(9 * 10);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<uint8_t>(i);
  const std::string png =
      Encode({.width = 9, .height = 10, .color_type = kGrey, .interlace = 1}, rows);
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Decode(png));
  EXPECT_THAT(PixelValues(image), testing::ElementsAreArray(rows));
}

// The smallest PNG there is (one black pixel), written by hand from www.w3.org/TR/png, not by
// libspng.
TEST(DecodePng, ReadsAFileThatItsOwnLibraryDidNotWrite) {
  const unsigned char png[] = {0x89, 'P', 'N', 'G', 0x0d, 0x0a, 0x1a, 0x0a,  // signature
                               0,    0,   0,   13,  'I',  'H',  'D',  'R',  0,    0,    0,    1,
                               0,    0,   0,   1,   8,    0,    0,    0,    0,    0x3a, 0x7e, 0x9b,
                               0x55,  // 1x1 grey
                               0,    0,   0,   10,  'I',  'D',  'A',  'T',  0x78, 0x9c, 0x63, 0x60,
                               0,    0,   0,   2,   0,    1,    0x48, 0xaf, 0xa4, 0x71,  // 0, 0
                               0,    0,   0,   0,   'I',  'E',  'N',  'D',  0xae, 0x42, 0x60, 0x82};
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image,
                              DecodePng(std::as_bytes(std::span(png)), "picture.png"));
  EXPECT_EQ(image.shape(), (Shape{1, 1, 1}));
  EXPECT_THAT(PixelValues(image), testing::ElementsAre(0));
}

std::string BigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string Deflated(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string packed(size, '\0');
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(text.data()), text.size()),
            Z_OK);
  packed.resize(size);
  return packed;
}

// `png` with a chunk more, which follows the header.
std::string WithChunk(const std::string& png, const std::string& type, const std::string& data) {
  constexpr size_t kEndOfHeader = 33;
  const std::string summed = type + data;
  const auto sum = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size())));
  return png.substr(0, kEndOfHeader) + BigEndian(static_cast<uint32_t>(data.size())) + summed +
         BigEndian(sum) + png.substr(kEndOfHeader);
}

constexpr size_t kSmallPictureBytes = 60;
std::string SmallPicture() {
  return Encode({5, 4, kRgb}, std::vector<uint8_t>(kSmallPictureBytes, 123));
}

// What unpacks to more than the file has bytes, to more than libspng's first buffer of 8 KiB, and
// to a hundred megabytes.
TEST(DecodePng, TextsAndProfilesOfAnySizeLeaveThePixelsAsTheyAre) {
  for (const size_t size : {size_t{100}, size_t{9000}, size_t{300'000}, size_t{100} << 20}) {
    const std::string packed = Deflated(std::string(size, 'a'));
    const std::string plain(std::min<size_t>(size, 300'000), 'a');
    const std::pair<const char*, std::string> chunks[] = {
        {"iCCP", "profile" + std::string(2, '\0') + packed},
        {"zTXt", "Comment" + std::string(2, '\0') + packed},
        {"iTXt", "Comment" + std::string("\0\1\0\0\0", 5) + packed},
        {"tEXt", "Comment" + std::string(1, '\0') + plain},
        {"sPLT", "no palette at all"},
        {"prVt", plain}};
    for (const auto& [type, data] : chunks) {
      SCOPED_TRACE(testing::Message() << type << " of " << size);
      STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Decode(WithChunk(SmallPicture(), type, data)));
      EXPECT_THAT(PixelValues(image),
                  testing::AllOf(testing::SizeIs(kSmallPictureBytes), testing::Each(123)));
    }
  }
}

TEST(DecodePng, ADamagedTextIsFoundAndNamed) {
  std::string png = WithChunk(SmallPicture(), "tEXt", "Comment" + std::string(1, '\0') + "hello");
  png[png.find("hello")] = 'j';
  EXPECT_THAT(Decode(png),
              FailsWith(StatusCode::kDataLoss,
                        "picture.png: byte 33: the checksum of chunk tEXt is not that of its 13 "
                        "bytes; the PNG is damaged"));
}

TEST(DecodePng, EveryProperPrefixOfAFileWithATextIsAnError) {
  const std::string good =
      WithChunk(SmallPicture(), "tEXt", "Comment" + std::string(1, '\0') + "hello");
  STOKER_EXPECT_OK(Decode(good));
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_THAT(Decode(good.substr(0, n)), FailsWith(StatusCode::kDataLoss, "picture.png: byte "))
        << n << " of " << good.size();
  }
}

TEST(DecodePng, EveryProperPrefixOfAGoodFileIsAnError) {
  const std::string good = Encode({5, 4, kRgb}, std::vector<uint8_t>(60, 123));
  STOKER_EXPECT_OK(Decode(good));
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_THAT(Decode(good.substr(0, n)), FailsWith(StatusCode::kDataLoss, "picture.png: "))
        << n << " of " << good.size();
  }
}

TEST(DecodePng,
     EveryFlippedBitIsAnError) {  // each byte of a plain file is covered by a checksum or is one
  const std::string good = Encode({5, 4, kRgb}, std::vector<uint8_t>(60, 123));
  for (size_t i = 0; i < good.size() * 8; ++i) {
    std::string bad = good;
    bad[i / 8] = static_cast<char>(bad[i / 8] ^ (1 << (i % 8)));
    EXPECT_FALSE(Decode(bad).ok()) << "bit " << i % 8 << " of byte " << i / 8;
  }
}

TEST(DecodePng, SaysWhereAFileIsDamagedOrCut) {
  const std::string good = Encode({5, 4, kRgb}, std::vector<uint8_t>(60, 123));
  std::string damaged = good;
  damaged[40] ^= 1;
  EXPECT_THAT(Decode(damaged), FailsWith(StatusCode::kDataLoss, "picture.png: before byte "));
  EXPECT_THAT(Decode(good.substr(0, 50)),
              FailsWith(StatusCode::kDataLoss,
                        "picture.png: byte 50: the PNG ends too early; the file was cut short"));
  EXPECT_THAT(Decode("\xff\xd8\xff\xe0 a JPEG is no PNG, whatever its name"),
              FailsWith(StatusCode::kDataLoss, "picture.png: byte 0: not a PNG"));
  EXPECT_THAT(Decode(""), FailsWith(StatusCode::kDataLoss, "byte 0: the PNG ends too early"));
}

TEST(DecodePng, RefusesMorePixelsThanItsLimit) {
  const std::string png = Encode({2, 2, kGrey}, {1, 2, 3, 4});
  STOKER_EXPECT_OK(DecodePng(BytesOf(png), "p", {.max_pixels = 4}));
  EXPECT_THAT(DecodePng(BytesOf(png), "p", {.max_pixels = 3}),
              FailsWith(StatusCode::kOutOfRange,
                        "p: 2 x 2 pixels are more than the 3 allowed; scale the picture down"));
}

TEST(DecodePng, DoesNotBelieveAHeaderThatTheFileIsTooShortFor) {
  // 8000 x 8000 grey pixels in a file of 45 bytes: signature, header with its checksum, and an end.
  const unsigned char png[] = {0x89, 'P', 'N', 'G', 0x0d, 0x0a, 0x1a, 0x0a, 0,    0, 0,    13,
                               'I',  'H', 'D', 'R', 0,    0,    0x1f, 0x40, 0,    0, 0x1f, 0x40,
                               8,    0,   0,   0,   0,    0x23, 0x9a, 0xf2, 0x28, 0, 0,    0,
                               0,    'I', 'E', 'N', 'D',  0xae, 0x42, 0x60, 0x82};
  EXPECT_THAT(
      DecodePng(std::as_bytes(std::span(png)), "picture.png"),
      FailsWith(StatusCode::kDataLoss,
                "8000 x 8000 pixels announced, too many for a file of 45 bytes; it was cut short"));
}

}  // namespace stoker::png_test
