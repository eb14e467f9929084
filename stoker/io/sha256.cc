#include "stoker/io/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace stoker {
namespace {

constexpr size_t kBlock = 64;

// Section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64
// primes.
constexpr uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<uint32_t, 8>;
// Section 5.3.3: likewise, of the square roots of the first eight.
constexpr State kStart = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

// Section 6.2.2.
void AddBlock(const char* block, State& state) {
  uint32_t schedule[64];
  for (size_t t = 0; t < 16; ++t) {
    uint32_t word;
    std::memcpy(&word, block + 4 * t, sizeof(word));
    schedule[t] = __builtin_bswap32(word);
  }
  for (size_t t = 16; t < 64; ++t) {
    const uint32_t two = schedule[t - 2], fifteen = schedule[t - 15];
    schedule[t] = (std::rotr(two, 17) ^ std::rotr(two, 19) ^ (two >> 10)) + schedule[t - 7] +
                  (std::rotr(fifteen, 7) ^ std::rotr(fifteen, 18) ^ (fifteen >> 3)) +
                  schedule[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t t = 0; t < 64; ++t) {
    const uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                           ((e & f) ^ (~e & g)) + kRounds[t] + schedule[t];
    const uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const State added = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

std::string_view TextOf(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

Sha256Digest Sha256(std::string_view bytes) {
  State state = kStart;
  const size_t whole = bytes.size() / kBlock * kBlock;
  for (size_t at = 0; at < whole; at += kBlock) AddBlock(bytes.data() + at, state);
  // The rest, a bit that is set, and the length in bits at the end of a block (section 5.1.1).
  std::array<char, 2 * kBlock> tail{};
  const std::string_view rest = bytes.substr(whole);
  std::ranges::copy(rest, tail.begin());
  tail[rest.size()] = static_cast<char>(0x80);
  const size_t size = rest.size() + 9 <= kBlock ? kBlock : 2 * kBlock;
  const uint64_t bits = __builtin_bswap64(uint64_t{bytes.size()} * 8);
  std::memcpy(tail.data() + size - sizeof(bits), &bits, sizeof(bits));
  for (size_t at = 0; at < size; at += kBlock) AddBlock(tail.data() + at, state);
  Sha256Digest digest;
  for (size_t i = 0; i < state.size(); ++i) {
    const uint32_t word = __builtin_bswap32(state[i]);
    std::memcpy(digest.data() + 4 * i, &word, sizeof(word));
  }
  return digest;
}

Sha256Digest HmacSha256(std::string_view key, std::string_view bytes) {
  const Sha256Digest hashed = key.size() > kBlock ? Sha256(key) : Sha256Digest{};
  if (key.size() > kBlock) key = TextOf(hashed);
  std::string inner(kBlock, '\x36'), outer(kBlock, '\x5c');
  for (size_t i = 0; i < key.size(); ++i) {
    inner[i] = static_cast<char>(inner[i] ^ key[i]);
    outer[i] = static_cast<char>(outer[i] ^ key[i]);
  }
  const Sha256Digest digest = Sha256(inner.append(bytes));
  return Sha256(outer.append(TextOf(digest)));
}

std::string HexOf(const Sha256Digest& digest) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

}  // namespace stoker
