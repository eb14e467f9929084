// The processes that train together, as one of them sees them: what they send each other.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/cluster/membership.h"
#include "stoker/cluster/monitor_hooks.h"

namespace stoker {

enum class Reduction { kSum, kMin, kMax };

// A collective that was started.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // Waits for the end, and returns how it ended; the tensors hold the result only after success.
  // Call it once, from one thread. Errors: see Group.
  virtual Status Wait() = 0;
};

// Collectives over all ranks. Every rank must call the same ones in the same order, with tensors of
// the same shapes and types; a rank that stays away holds the others up until the timeout. Tensors
// are contiguous and on the device of the group (Gloo: the CPU), and neither read nor written by
// others until the collective has ended. `what` says in errors what is being done: "the gradients
// of step 12".
//
// Same sums: with the same tensors and the same number of ranks, a sum has the same bits on every
// rank and in every run.
//
// Errors: kUnavailable: a rank is lost, has ended or did not come within the timeout; names `what`,
// and the rank, its host and what it was last seen doing (rank_monitor.h). "rank 3 failed: ...":
// that one has left with this error. After an error the group is of no use: what the ranks hold may
// differ, and all calls fail, on every rank. kCancelled: the thread was asked to stop (StopScope)
// while it waited; the group is of no use then either.
//
// A rank that neither leaves nor answers ends the others' collectives, also those begun later.
//
// Thread safety: one thread at a time.
class Group {
 public:
  virtual ~Group() = default;

  virtual const Membership& membership() const = 0;

  // Replaces `tensor` on every rank by the reduction over all ranks. The tensor is kept until the
  // exchange has ended.
  virtual Result<std::unique_ptr<Exchange>> StartAllReduce(at::Tensor tensor, Reduction reduction,
                                                           std::string_view what) = 0;

  // Replaces `tensor` on every rank by that of rank `root`.
  virtual Status Broadcast(at::Tensor tensor, int64_t root, std::string_view what) = 0;

  // Writes the tensors of all ranks to `gathered`, whose first dimension is the number of ranks,
  // and whose others are those of `tensor`.
  virtual Status AllGather(const at::Tensor& tensor, at::Tensor gathered,
                           std::string_view what) = 0;

  // Writes to `part` the sum over all ranks of the rank-th of world equal parts of `whole`'s first
  // dimension.
  virtual Status ReduceScatter(const at::Tensor& whole, at::Tensor part, std::string_view what) = 0;

  // Returns once every rank has called it.
  virtual Status Barrier(std::string_view what) = 0;

  // Returns another group of the same ranks, over connections of its own: the order of its
  // collectives is independent of that of this one's, and if one rank's goes away, the others'
  // collectives of it fail (kUnavailable) while this group goes on. Every rank calls it, in the
  // order of this group's collectives, since it begins with a barrier of this group.
  //   name  another one each time, the same on every rank
  // Errors: kUnavailable.
  virtual Result<std::unique_ptr<Group>> Beside(std::string_view name) = 0;

  // Says what this rank does from now on, for the messages of the others: "computing step 12".
  // Cheap enough for every step.
  virtual void Does(std::string doing) = 0;

  // Says that this rank needs the others no more, and why if it has failed; they get that as an
  // error, unless all know already (NoteAgreed). The group is of no use afterwards. One that goes
  // away without this leaves with success.
  virtual void Leave(const Status& how) = 0;

  // Notes that all ranks know of an error, so that the first to leave does not surprise the others.
  void NoteAgreed() { agreed_ = true; }

  Status AllReduce(at::Tensor tensor, Reduction reduction, std::string_view what);

  // Returns the texts of all ranks, by rank; they may differ in length. On every rank.
  Result<std::vector<std::string>> GatherTexts(std::string_view text, std::string_view what);

 protected:
  bool agreed() const { return agreed_; }

 private:
  bool agreed_ = false;
};

struct JoinOptions {
  // For each collective, for all ranks to come at the start, and for a sign of life of each.
  std::chrono::milliseconds timeout{std::chrono::minutes(10)};
  MonitorHooks hooks = {};
};

// Meets the other ranks where `membership` says, and returns the group of all, over c10d's Gloo.
// The ranks find each other through a store that rank 0 keeps, unless the launcher's agent does.
// The store listens only on the address of membership.host. It has no authentication and no
// encryption, so use it on a trusted network. One rank alone talks to nobody.
//
// The process must ignore SIGPIPE: c10d writes to connections that the other side has closed.
//
// Errors: kUnavailable: the address does not resolve, the port is taken, or ranks did not come
// within the timeout: names the missing; kInvalidArgument: ranks differ in the number of ranks, or
// two processes have the same rank: names them and their hosts; kCancelled.
Result<std::unique_ptr<Group>> JoinGroup(const Membership& membership,
                                         const JoinOptions& options = {});

}  // namespace stoker
