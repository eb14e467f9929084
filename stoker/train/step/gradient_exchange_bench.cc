// Two ranks send 25 million gradients while a backward pass that sleeps makes them, so both CPUs
// are free for what travels. Counters: `alone` is the exchange of all without a pass, `pass` the
// pass without an exchange, both in milliseconds; `of_longer` is the step divided by the longer of
// the two (1: the shorter is hidden), `hidden` the share of the shorter that is.
#include <ATen/Functions.h>
#include <benchmark/benchmark.h>
#include <torch/autograd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/rounds_bench.h"
#include "stoker/base/statistics.h"
#include "stoker/cluster/group.h"
#include "stoker/cluster/loopback_testing.h"
#include "stoker/train/step/gradient_exchange.h"

namespace stoker {
namespace {

// Layers of 1024, 3072, 3072, 3072 and 1000 values: the weights of a perceptron.
constexpr int64_t kSizes[] = {1024 * 3072, 3072 * 3072, 3072 * 3072, 3072 * 1000};
constexpr int64_t kParameters = kSizes[0] + kSizes[1] + kSizes[2] + kSizes[3];

// A layer whose backward pass takes its time by sleeping.
class SleepingLayer : public torch::autograd::Function<SleepingLayer> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& weights, double seconds) {
    context->saved_data["seconds"] = seconds;
    context->save_for_backward({weights});
    return input + weights.select(0, 0);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    std::this_thread::sleep_for(
        std::chrono::duration<double>(context->saved_data["seconds"].toDouble()));
    return {grads[0], at::ones_like(context->get_saved_variables()[0]), at::Tensor()};
  }
};

// One rank: its weights, and what it does with them.
class SleepingRank {
 public:
  SleepingRank(Group& group, double pass_seconds, int64_t bucket_bytes)
      : pass_seconds_(pass_seconds),
        weights_(Weights()),
        exchange_(group, weights_, bucket_bytes) {}

  void Pass() {
    at::Tensor value = at::zeros({});
    for (const at::Tensor& weights : weights_)
      value = SleepingLayer::apply(
          value, weights,
          pass_seconds_ * static_cast<double>(weights.numel()) / static_cast<double>(kParameters));
    value.backward();
  }
  void PassAlone() {
    Pass();
    DropGradients();
  }
  Status Step(bool with_pass) {
    exchange_.Begin(++step_);
    if (with_pass) Pass();
    return exchange_.Finish(step_, at::zeros({1}, at::kDouble));
  }
  void DropGradients() {
    for (at::Tensor& weights : weights_) weights.mutable_grad().reset();
  }
  // After a step with a pass, in which each of two ranks has gradients of ones.
  Status CheckSums() const {
    for (const at::Tensor& weights : weights_)
      if (!weights.grad().eq(2).all().item<bool>()) return Internal("a wrong sum of gradients");
    return OkStatus();
  }

 private:
  static std::vector<at::Tensor> Weights() {
    std::vector<at::Tensor> weights;
    for (const int64_t size : kSizes) weights.push_back(at::zeros({size}).requires_grad_());
    return weights;
  }

  double pass_seconds_;
  std::vector<at::Tensor> weights_;
  GradientExchange exchange_;
  int64_t step_ = 0;
};

struct Times {
  double alone = 0, pass = 0, step = 0;  // medians, in seconds
};

double Seconds(const std::function<void()>& work) {
  const Stopwatch watch;
  work();
  return watch.ElapsedSeconds();
}

// What rank 0 measures and rank 1 does with it; both call it.
Result<Times> Measure(Group& group, double pass_seconds, int64_t bucket_bytes) {
  SleepingRank rank(group, pass_seconds, bucket_bytes);
  std::vector<double> alone, pass, step;
  for (int64_t round = BenchRounds(12); round-- > 0;) {
    Status sent;
    STOKER_RETURN_IF_ERROR(group.Barrier("a round"));
    alone.push_back(Seconds([&] { sent = rank.Step(/*with_pass=*/false); }));
    STOKER_RETURN_IF_ERROR(sent);
    rank.DropGradients();
    STOKER_RETURN_IF_ERROR(group.Barrier("a pass"));
    pass.push_back(Seconds([&] { rank.PassAlone(); }));
    STOKER_RETURN_IF_ERROR(group.Barrier("a step"));
    step.push_back(Seconds([&] { sent = rank.Step(/*with_pass=*/true); }));
    STOKER_RETURN_IF_ERROR(sent);
    STOKER_RETURN_IF_ERROR(rank.CheckSums());
    rank.DropGradients();
  }
  return Times{.alone = Median(alone), .pass = Median(pass), .step = Median(step)};
}

// Runs both ranks, as threads.
Result<Times> MeasureRanks(double pass_seconds, int64_t bucket_bytes) {
  std::vector<Result<Times>> found(2, Times{});
  const LoopbackListener listener;
  if (listener.port == 0) return Unavailable("the system refuses a socket that listens");
  {
    std::vector<std::jthread> ranks;
    for (int64_t rank = 0; rank < 2; ++rank)
      ranks.emplace_back([&found, &listener, rank, pass_seconds, bucket_bytes] {
        found[static_cast<size_t>(rank)] = [&]() -> Result<Times> {
          STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Group> group,
                                  JoinGroup(MemberOf(listener, rank, 2)));
          return Measure(*group, pass_seconds, bucket_bytes);
        }();
      });
  }
  for (const Result<Times>& rank : found)
    if (!rank.ok()) return rank.status();
  return found[0];
}

void BM_ExchangeBesideASleepingPass(benchmark::State& bench) {
  const double pass_seconds = static_cast<double>(bench.range(0)) / 1000;
  Times times;
  for (auto _ : bench) {
    Result<Times> found = MeasureRanks(pass_seconds, bench.range(1) << 20);
    if (!found.ok()) return bench.SkipWithError(found.status().ToString().c_str());
    times = *found;
    bench.SetIterationTime(times.step);
  }
  const double longer = std::max(times.alone, times.pass),
               shorter = std::min(times.alone, times.pass);
  bench.counters["alone"] = 1000 * times.alone;
  bench.counters["pass"] = 1000 * times.pass;
  bench.counters["of_longer"] = times.step / longer;
  bench.counters["hidden"] = (longer + shorter - times.step) / shorter;
}
BENCHMARK(BM_ExchangeBesideASleepingPass)
    ->ArgNames({"pass_ms", "bucket_mb"})
    ->Args({180, 8})
    ->Args({180, 25})
    ->Args({360, 8})
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stoker
