#include "stoker/tools/live/metrics_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace stoker::metrics_page_test {
namespace {

using testing::HasSubstr;
using testing::Not;

LiveFacts Training() {
  LiveFacts facts{.command = "train", .recipe = "r.yaml", .run = "runs/a\"b", .phase = "training"};
  facts.train = TrainFacts{.step = 12, .total_steps = 100, .samples = 384, .loss = 0.5, .lr = 0.01};
  facts.train->accuracy = 0.75;
  facts.pipeline.stages = {{.name = "idx", .elements = 3, .busy_s = 1.5}, {.name = "idx"}};
  return facts;
}

MachineUsage Machine() {
  MachineUsage machine;
  machine.counters.cpus = {{.id = 3, .busy = 100, .idle = 300}};
  machine.counters.memory.total_bytes = 1000;
  machine.counters.disks = {{.name = "sda", .read_bytes = 512, .busy_ms = 500}};
  machine.counters.networks = {{.name = "eth0", .received_bytes = 7}};
  machine.gpus = {{.name = "H100", .used = 0.5, .clock_mhz = 1500}, {.name = "H100"}};
  machine.process.cpu_seconds = 2;
  return machine;
}

// The rules of Prometheus's naming that a program can check.
TEST(MetricsPage, FollowsTheConventionsOfNames) {
  LiveFacts facts = Training();
  facts.work = WorkFacts{.planned = 7};
  const std::string page = MetricsPage(facts, Machine());
  std::istringstream lines(page);
  std::map<std::string, std::string> types;
  std::set<std::string> helped;
  const std::regex sample(R"(^([a-z_]+)(\{[^{}]*\})? (NaN|[+-]Inf|[-+0-9.e]+)$)");
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, what, name, type;
    if (line.starts_with("#")) {
      words >> hash >> what >> name >> type;
      if (what == "HELP") {
        EXPECT_TRUE(helped.insert(name).second) << name << " appears twice";
      }
      if (what == "TYPE") types[name] = type;
      continue;
    }
    std::smatch match;
    ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
    name = match[1];
    ASSERT_TRUE(types.contains(name)) << line;
    EXPECT_TRUE(helped.contains(name)) << line;
    EXPECT_EQ(name.ends_with("_total"), types[name] == "counter") << line;
    for (const char* unit : {"_ms", "_milliseconds", "_kb", "_mb", "_percent", "_minutes"})
      EXPECT_EQ(name.find(unit), std::string::npos) << line;
  }
  EXPECT_GT(types.size(), 30u);
}

TEST(MetricsPage, HasTheFiguresOfATraining) {
  const std::string page = MetricsPage(Training(), Machine());
  for (const char* line :
       {"stoker_train_steps_total 12\n", "stoker_train_planned_steps 100\n",
        "stoker_train_loss 0.5\n", "stoker_train_evaluation_accuracy_ratio 0.75\n",
        "stoker_stage_elements_total{stage=\"idx\",position=\"0\"} 3\n",
        "stoker_stage_elements_total{stage=\"idx\",position=\"1\"} 0\n",
        "stoker_host_disk_read_bytes_total{device=\"sda\"} 512\n",
        "stoker_host_disk_busy_seconds_total{device=\"sda\"} 0.5\n",
        "stoker_host_network_received_bytes_total{device=\"eth0\"} 7\n",
        "stoker_gpu_used_ratio{gpu=\"0\",name=\"H100\"} 0.5\n",
        "stoker_gpu_clock_hertz{gpu=\"0\",name=\"H100\"} 1500000000\n",
        "process_cpu_seconds_total 2\n", "run=\"runs/a\\\"b\""})
    EXPECT_THAT(page, HasSubstr(line));
  EXPECT_THAT(page, Not(HasSubstr("stoker_train_evaluation_loss")));
  EXPECT_THAT(page, Not(HasSubstr("stoker_pack")));
}

TEST(MetricsPage, HasTheFiguresOfAnEvaluationThatAreNumbers) {
  LiveFacts facts = Training();
  EXPECT_THAT(MetricsPage(facts, {}), Not(HasSubstr("stoker_train_evaluation_metric")));
  facts.train->metrics = {{"price.rmse", 550.5}, {"auc", nullptr}, {"confusion", {{1, 2}, {3, 4}}}};
  const std::string page = MetricsPage(facts, {});
  EXPECT_THAT(page, HasSubstr("\nstoker_train_evaluation_metric{metric=\"price.rmse\"} 550.5\n"));
  EXPECT_THAT(page, Not(HasSubstr("auc")));
  EXPECT_THAT(page, Not(HasSubstr("confusion")));
}

TEST(MetricsPage, ShowsNoLossBeforeTheFirstStep) {
  LiveFacts facts = Training();
  facts.train->first_step = facts.train->step;
  EXPECT_THAT(MetricsPage(facts, {}), Not(HasSubstr("stoker_train_loss")));
}

TEST(MetricsPage, TellsNoSecretOfAnAddress) {
  LiveFacts facts = Training();
  facts.recipe = "https://user:passwort@host/r.yaml";
  EXPECT_THAT(MetricsPage(facts, {}), Not(HasSubstr("passwort")));
}

TEST(MetricsPage, NamesTheWorkOfItsCommand) {
  LiveFacts facts{.command = "pack"};
  facts.work = WorkFacts{.samples = 5, .files = 2};
  EXPECT_THAT(MetricsPage(facts, {}), HasSubstr("stoker_pack_elements_total 5\n"));
  EXPECT_THAT(MetricsPage(facts, {}), Not(HasSubstr("stoker_pack_planned_elements")));
  facts.command = "bench";
  EXPECT_THAT(MetricsPage(facts, {}), HasSubstr("stoker_input_samples_total 5\n"));
}

}  // namespace
}  // namespace stoker::metrics_page_test
