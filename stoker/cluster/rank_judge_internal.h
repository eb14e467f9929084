// RankJudge: decides from what is heard of the ranks whether one of them is lost, hangs, or has
// left too early. It neither reads a clock nor a socket.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stoker {

// What a rank tells of itself with each heartbeat.
struct RankReport {
  std::string doing = "starting";  // "computing step 12"
  int64_t started = 0;             // collectives so far
  int64_t awaited = 0;             // the one that it waits for, from 1; 0: it waits for none
  std::string what = {};           // is done by that one: "the gradients of step 12"

  std::string Sentence() const;  // "computing step 12"
};

// Why the ranks cannot go on.
struct RankFault {
  int64_t rank = -1;  // whose fault it is; -1: not known
  std::string sentence;
};

// Ranks are known once they have been heard of. One thread at a time.
class RankJudge {
 public:
  // hosts    of all ranks, by rank
  // timeout  after which a rank counts as lost: of which nothing is heard, or for which others wait
  RankJudge(std::vector<std::string> hosts, std::chrono::milliseconds timeout);

  void Heard(int64_t rank, RankReport report);
  // The rank has said that it ends: `failure` is why, or empty where it is done.
  void Ended(int64_t rank, RankReport report, std::string failure);
  // The connection to it has ended.
  void Closed(int64_t rank);

  // Call it after all that has arrived was told.
  //   passed  since the last call. Time in which this process could not listen, because it was
  //           stopped itself, does not count.
  // Returns the fault that has come up; the same in later calls.
  const std::optional<RankFault>& Look(std::chrono::milliseconds passed);

 private:
  struct Rank {
    bool known = false, ended = false;
    RankReport report;
    std::chrono::milliseconds silent{0}, waiting{0};
  };

  std::string Name(size_t rank) const;
  std::string Seconds() const;
  void Blame(size_t rank, std::string why);
  void LookAt(size_t rank, std::chrono::milliseconds passed);
  void FindMissing(size_t waiting);

  const std::vector<std::string> hosts_;
  const std::chrono::milliseconds timeout_;
  std::vector<Rank> ranks_;
  std::optional<RankFault> fault_;
};

}  // namespace stoker
