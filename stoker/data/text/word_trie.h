// Finds the longest token that a text begins with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// A trie over bytes as a double array (Aoe, "An efficient digital search algorithm by using a
// double-array structure", 1989): a step reads 8 bytes. About 8 to 12 bytes a node; a vocabulary of
// 30,000 tokens has about 100,000 nodes. Immutable and thread-safe.
class WordTrie {
 public:
  // Token i has the number i. Non-empty tokens must be distinct; empty ones are never found.
  explicit WordTrie(const std::vector<std::string>& tokens);

  // The start of a search: the root, or the node of a prefix of tokens.
  using State = uint32_t;
  static constexpr State kRoot = 0;
  // Sets `state` to the node of `prefix`, from which a search finds the rests of tokens that begin
  // with it. Returns false if there is none.
  bool StateBehind(std::string_view prefix, State& state) const;

  struct Match {
    size_t length = 0;  // 0: not found
    int32_t token = -1;
  };
  Match Longest(State from, std::string_view text) const {
    Match match;
    State at = from;
    for (size_t i = 0; i < text.size(); ++i) {
      const State next = nodes_[at].children + static_cast<uint8_t>(text[i]);
      if (nodes_[next].parent != at) break;
      at = next;
      if (tokens_[at] >= 0) match = {i + 1, tokens_[at]};
    }
    return match;
  }

  // Calls `take` with length and number of every token that `text` begins with, the shortest first.
  template <typename F>
  void ForEachPrefix(std::string_view text, F take) const {
    State at = kRoot;
    for (size_t i = 0; i < text.size(); ++i) {
      const State next = nodes_[at].children + static_cast<uint8_t>(text[i]);
      if (nodes_[next].parent != at) return;
      at = next;
      if (tokens_[at] >= 0) take(i + 1, tokens_[at]);
    }
  }

 private:
  static constexpr State kNone = ~State{0};
  // The child for byte b is node `children` + b, if that node names this one as its parent.
  struct Node {
    State children = 0;
    State parent = kNone;
  };
  class Builder;

  std::vector<Node> nodes_;      // padded so that every possible child is a valid index
  std::vector<int32_t> tokens_;  // by node: the token that ends there, or -1
};

}  // namespace stoker
