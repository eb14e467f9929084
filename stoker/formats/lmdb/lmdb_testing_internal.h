// Databases for tests, built byte by byte as README.md says. Only tests include it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker {

// Appends pages: leaves of `per_leaf` nodes and one branch above them; values of more than a
// quarter of a page go to overflow pages.
class LmdbBuilder {
 public:
  static constexpr size_t kPage = 4096;
  struct Node {
    std::string key, value;
    uint16_t flags = 0;
  };

  explicit LmdbBuilder(size_t per_leaf = 20) : file_(2 * kPage, '\0'), per_leaf_(per_leaf) {}

  // Adds a database of sorted nodes and returns its 48-byte description.
  std::string Add(const std::vector<Node>& nodes, uint16_t flags = 0) {
    std::vector<std::pair<std::string, uint64_t>> leaves;
    for (size_t i = 0; i < nodes.size(); i += per_leaf_) {
      std::vector<std::string> parts;
      for (size_t n = i; n < std::min(nodes.size(), i + per_leaf_); ++n)
        parts.push_back(LeafNode(nodes[n]));
      leaves.emplace_back(nodes[i].key, AddPage(2, parts));
    }
    uint64_t root = leaves.empty() ? ~uint64_t{0} : leaves.front().second;
    if (leaves.size() > 1) {
      std::vector<std::string> parts;
      for (size_t n = 0; n < leaves.size(); ++n) {
        const std::string key = n == 0 ? "" : leaves[n].first;
        const uint64_t page = leaves[n].second;
        parts.push_back(Number<uint32_t>(page) + Number<uint16_t>(page >> 32) +
                        Number<uint16_t>(key.size()) + key);
      }
      root = AddPage(1, parts);
    }
    return Number<uint32_t>(0) + Number<uint16_t>(flags) + Number<uint16_t>(1) +
           std::string(24, '\0') + Number<uint64_t>(nodes.size()) + Number<uint64_t>(root);
  }

  // Returns the file with this main database; the other meta page is older.
  std::string File(const std::string& main) {
    for (const uint64_t page : {0, 1}) {
      std::string text = Number<uint64_t>(page) + std::string(2, '\0') + Number<uint16_t>(8) +
                         std::string(4, '\0') + Number<uint32_t>(0xbeefc0de) + Number<uint32_t>(1) +
                         std::string(16, '\0') + Number<uint32_t>(kPage) + std::string(36, '\0') +
                         Number<uint64_t>(~uint64_t{0}) + main +
                         Number<uint64_t>(file_.size() / kPage - 1) + Number<uint64_t>(page + 4);
      if (page == 0) text.replace(88, 48, std::string(48, '\1'));
      file_.replace(page * kPage, text.size(), text);
    }
    return file_;
  }

 private:
  template <typename T>
  static std::string Number(uint64_t value) {
    const T narrow = static_cast<T>(value);
    std::string text(sizeof(T), '\0');
    std::memcpy(text.data(), &narrow, sizeof(T));
    return text;
  }

  std::string LeafNode(const Node& node) {
    const bool big = node.value.size() > kPage / 4;
    std::string text = Number<uint32_t>(node.value.size()) +
                       Number<uint16_t>(node.flags | (big ? 1 : 0)) +
                       Number<uint16_t>(node.key.size()) + node.key;
    if (!big) return text + node.value;
    const uint64_t first = file_.size() / kPage;
    const size_t pages = (16 + node.value.size() + kPage - 1) / kPage;
    file_ += Number<uint64_t>(first) + std::string(2, '\0') + Number<uint16_t>(4) +
             Number<uint32_t>(pages) + node.value;
    file_.resize((first + pages) * kPage);
    return text + Number<uint64_t>(first);
  }

  uint64_t AddPage(uint16_t flags, const std::vector<std::string>& nodes) {
    const uint64_t number = file_.size() / kPage;
    std::string offsets, body(kPage, '\0');
    size_t at = kPage;
    for (const std::string& node : nodes) {
      at -= node.size() + node.size() % 2;
      body.replace(at, node.size(), node);
      offsets += Number<uint16_t>(at);
    }
    const std::string header = Number<uint64_t>(number) + std::string(2, '\0') +
                               Number<uint16_t>(flags) + Number<uint16_t>(16 + offsets.size()) +
                               Number<uint16_t>(at) + offsets;
    body.replace(0, header.size(), header);
    file_ += body;
    return number;
  }

  std::string file_;
  const size_t per_leaf_;
};

// Keys 000, 001, ... with values of 0 to some 9,000 bytes.
inline std::vector<LmdbBuilder::Node> LmdbNodes(int count, const std::string& prefix = "") {
  std::vector<LmdbBuilder::Node> nodes;
  for (int i = 0; i < count; ++i) {
    std::string key = std::to_string(i);
    key = prefix + std::string(3 - key.size(), '0') + key;
    const size_t size = i % 10 == 3 ? 3000 * static_cast<size_t>(i % 4) : static_cast<size_t>(i);
    nodes.push_back({key, std::string(size, static_cast<char>('a' + i % 26)), 0});
  }
  return nodes;
}

}  // namespace stoker
