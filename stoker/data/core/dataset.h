// Dataset: an immutable description of an input pipeline. DatasetNode: the interface that operators
// implement.
//
// A pipeline is read in one of two ways, which give the same bytes:
//   * in order: Open gives an Iterator; every dataset has this;
//   * by position: Read(i), a pure function, if all operators down to the source allow it.
// By position, elements are independent of each other, a checkpoint is one number, and restoring
// costs nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/element.h"
#include "stoker/data/core/spec.h"

namespace stoker {

class DatasetNode;
class Iterator;
class OpenContext;
class ReadContext;
class Transform;
struct Runtime;

// The number of elements of an epoch: known, infinite, or unknown.
class Cardinality {
 public:
  static Cardinality Of(int64_t n) { return Cardinality(n); }
  static Cardinality Infinite() { return Cardinality(std::numeric_limits<int64_t>::max()); }
  static Cardinality Unknown() { return Cardinality(-1); }

  bool known() const { return n_ >= 0 && !infinite(); }
  bool infinite() const { return n_ == std::numeric_limits<int64_t>::max(); }
  int64_t value() const { return n_; }  // if known()

  bool operator==(const Cardinality&) const = default;
  std::string ToString() const;  // "60000", "infinite", "unknown"

 private:
  explicit Cardinality(int64_t n) : n_(n) {}
  int64_t n_;
};

// What a rank does in a last round in which only some ranks have an element. All ranks must have
// the same setting; then they all decide alike without communication, because each knows the order
// of all.
enum class WhenDry {
  kEnd,      // it ends, possibly one element before the others
  kStopAll,  // all omit that round: the same number of elements on each, but some elements on none
  kEmptyBatches,  // it returns an empty batch, so that all have the same number of batches
};

// Which lost elements a pass writes to its logs (`log` of ops/ignore_errors.h). Except with kNone,
// which opens no log, a missing log is created, and a log that cannot be written is an error.
enum class LossLogging {
  kEach,  // all; a restored pass removes the lines written after its position was saved
  // Only those whose lines no pass over this pipeline with this seed has written there yet. For
  // repeated passes over the same elements that are never restored, such as evaluations.
  kOnce,
  kNone,  // none: for a trial read
};

// The origin of the keys of a node's elements (SampleKey).
enum class KeyOrigin {
  kItself,  // it numbers its elements
  kInput,   // each has the key of the input's element that it is, or is made of
  kInputs,  // it combines several inputs: KeyOfInput makes the keys from theirs
};

// The settings of one pass: seed and epoch, which alone determine the order and the random draws;
// the share of this rank; and the logs.
struct PassOptions {
  uint64_t seed = 0;
  uint64_t epoch = 0;  // of the first pass; `repeat` increments it

  // Of `world` ranks that share the pass, this one gets the outermost elements (usually batches)
  // rank, rank + world, rank + 2 world, ... If the pipeline is read by position, a rank computes
  // only its own elements; in order, it also computes those of the other ranks up to the last
  // batch, map and prefetch stages. A saved position is that of the whole pass: if every rank has
  // read the same number of elements, any rank's position serves all, and any number of ranks can
  // continue from it.
  int64_t rank = 0;
  int64_t world = 1;
  WhenDry when_dry = WhenDry::kEnd;

  LossLogging losses = LossLogging::kEach;
};

// A cheap value: copies share the description. Thread-safe.
class Dataset {
 public:
  explicit Dataset(std::shared_ptr<const DatasetNode> node) : node_(std::move(node)) {}

  const Spec& spec() const;
  Cardinality cardinality() const;
  const DatasetNode& node() const { return *node_; }
  const std::shared_ptr<const DatasetNode>& shared_node() const { return node_; }

  // Starts one pass. Loads and learns what stages keep in memory (once for each dataset), with the
  // settings, the budget and the stop flag of the pass; reports errors of files. Several passes
  // over one dataset may be open at once. See runtime.h.
  Result<std::unique_ptr<Iterator>> Open(const Runtime& runtime,
                                         const PassOptions& pass = {}) const;

  // Makes every node load or learn what it keeps in memory. Open does this too.
  Status Prepare(const OpenContext& context) const;

  // The pipeline as text, source first, one stage a line.
  std::string ToString() const;

 private:
  std::shared_ptr<const DatasetNode> node_;
};

// Base of every source and operator. Immutable after construction; thread-safe.
class DatasetNode {
 public:
  // `name` is the operator's name in recipes.
  DatasetNode(std::string name, Spec spec, Cardinality cardinality, std::vector<Dataset> inputs);
  virtual ~DatasetNode() = default;

  const std::string& name() const { return name_; }
  const Spec& spec() const { return spec_; }
  Cardinality cardinality() const { return cardinality_; }
  const std::vector<Dataset>& inputs() const { return inputs_; }
  const Dataset& input() const { return inputs_.front(); }
  // Returns how many nodes the longest way from here to a source has, both included.
  int64_t depth() const { return depth_; }

  // Returns the options in short, for ToString: "size 128, drop_remainder".
  virtual std::string Details() const { return {}; }

  // Loads or learns what the node keeps in memory. Called at each Open, inputs first, before
  // anything is read. Must be quick the second time, and end early if `context` says stop.
  virtual Status Prepare(const OpenContext& /*context*/) const { return OkStatus(); }

  // Returns why the elements, grouped or not, differ from those of the input in number, order or
  // content, or with seed and epoch: "reorders elements", "leaves elements out", ... Empty if they
  // do not. `predict` accepts only nodes that return an empty text, so it refuses nodes that do not
  // override this.
  virtual std::string_view Disturbs() const { return "may reorder, leave out or alter elements"; }

  // The default is right for a map, and for a node that numbers its elements.
  virtual KeyOrigin key_origin() const;

  // Returns true only if element i consists of the same samples in every pass, for any seed and
  // epoch, random draws aside, so that knowledge about element i stays valid. The default uses
  // Disturbs.
  virtual bool fixed_order() const;

  // Returns whether the node itself draws random numbers, so that its elements, or their order,
  // differ from pass to pass; `cache` refuses to follow it. The default asks the transform of a
  // map, and returns false for other nodes.
  virtual bool random() const;

  // Returns the files that the node itself reads, or was made from. A later `cache` is rebuilt if
  // one has changed.
  virtual std::vector<std::string> files() const { return {}; }

  // Returns an upper bound of the bytes of buffers that the node and its inputs allocate to make
  // `count` consecutive elements (a few blocks of 64 bytes more for each round of a `repeat` among
  // them), or nothing if the Specs do not determine it. The memory budget uses it for admission.
  // The default is right for a node that makes each element in its own buffers from one element of
  // each input.
  virtual std::optional<int64_t> MemoryToRead(int64_t count) const;

  // --- In order --- Called if the node, or the runtime, cannot read by position. Open inputs
  // through the context.
  virtual Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const = 0;
  // Describes a stream each of whose elements is made of the next `size` consecutive elements of
  // the one input, with bytes that depend only on these and its key. A share of such elements can
  // be made from a share of the input.
  struct Grouping {
    int64_t size = 0;       // 0: not such a stream
    bool full = false;      // a smaller group at the end of a pass is dropped
    bool numbered = false;  // keys are numbers that the node counts: OpenContext::NumberInPass
  };
  virtual Grouping grouping() const { return {}; }
  // Returns the transform of a node that maps one element to one, which the runtime may apply on
  // several threads; else null.
  virtual const Transform* element_wise() const { return nullptr; }
  // Returns how many elements the node asks the runtime to keep ready ahead of the consumer; 0:
  // none, -1: the runtime chooses.
  virtual int64_t read_ahead() const { return 0; }

  // Returns true if elements may be delivered in the order in which they are finished
  // (`deterministic: false`). Applies if the node is the outermost, or only stages that allow it
  // follow (OpenContext::OpenInputInAnyOrder).
  virtual bool any_order() const { return false; }

  // Returns true if an iterator of this node that is opened tolerantly (OpenContext) continues
  // after an element that could not be made, and returns a failed element in its place.
  virtual bool tolerates_errors() const { return random_access() || element_wise() != nullptr; }

  // --- By position --- Returns true if Read works. Then cardinality() is not unknown.
  virtual bool random_access() const { return false; }
  // Returns element `position` of the pass, 0 <= position < cardinality. Pure: equal arguments give
  // equal bytes.
  Result<Element> Read(int64_t position, const ReadContext& context) const;
  // Returns the same for many positions at once (at least one), in the order given; shapes must be
  // fully known.
  Result<Rows> ReadRows(std::span<const int64_t> positions, const ReadContext& context) const;

  // --- By key --- Returns true if an element of a pass, by position or in order, can be made again
  // from its key alone, so that ReadKey works. A stage that holds elements then saves their keys.
  virtual bool rereadable() const { return false; }
  // Returns the element that the pass returned with this key, with the same bytes. REQUIRES: the
  // pass returned one with `key`.
  Result<Element> ReadKey(const SampleKey& key, const ReadContext& context) const;

 protected:
  virtual Result<Element> DoRead(int64_t position, const ReadContext& context) const;
  virtual Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const;
  // The default reads one by one and stacks, so overriding it is for speed only.
  virtual Result<Rows> DoReadRows(std::span<const int64_t> positions,
                                  const ReadContext& context) const;

  // For a DoRead that fails and knows the key of the element: records the key (failure.h) and
  // counts the error. Read does so for all others.
  void CountFailure(SampleKey key, const ReadContext& context) const;

 private:
  const std::string name_;
  const Spec spec_;
  const Cardinality cardinality_;
  const std::vector<Dataset> inputs_;
  const int64_t depth_;
};

// The greatest depth of a pipeline. Functions of a node call those of its inputs, so that a deeper
// one could exhaust the stack of a thread.
inline constexpr int64_t kMaxPipelineDepth = 1'000;

// Returns what was built, or InvalidArgument if that is deeper than kMaxPipelineDepth.
Result<Dataset> CheckDepth(Result<Dataset> built);

}  // namespace stoker
