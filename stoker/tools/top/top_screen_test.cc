// Golden screens. A screen that is meant to change is printed by the test that fails; look at it
// before you copy it.
#include "stoker/tools/top/top_screen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <string_view>

#include "stoker/base/testing.h"
#include "stoker/tools/top/top_testing_internal.h"
#include "stoker/tools/top/top_verdict.h"

namespace stoker::top_screen_test {

using testing::HasSubstr;

// The screen with a bar at the end of each line, so that its width is seen.
std::string ScreenOf(const TopHistory& history, ScreenSize size, Glyphs glyphs) {
  std::string text;
  const std::vector<std::string> lines = TopScreen(history, size, glyphs);
  EXPECT_LE(lines.size(), size.rows);
  for (const std::string& line : lines) {
    EXPECT_LE(ColumnsOf(line), size.columns) << line;
    text += fmt::format("{}{:>{}}\n", line, "|", size.columns - ColumnsOf(line) + 1);
  }
  return "\n" + text;
}

TopHistory WatchedRun() {
  TopHistory history = MadeUpRun();
  history.verdict = VerdictOfRun(history, {});
  history.advice = AdviceFor(*history.verdict, history.now().progress->starved);
  history.evaluation = "step 180: accuracy 0.9100, loss 1.2000";
  history.notes = {"a note"};
  return history;
}

TEST(TopScreen, OfARunAt80By24) {
  EXPECT_EQ(ScreenOf(WatchedRun(), {.columns = 80, .rows = 24}, Glyphs::kUnicode), R"(
runs/photos-20240131-235959  training, pid 4711                          q quits|
step    200 of 6,000 (3%)  epoch 0.33  9 min 00 s left  lr 0.001                |
rate    300 images/s  █████████████████████                                     |
loss    1.15  1.15 to 2.19 over steps 10 to 200  eval step 180: accuracy 0.9100…|
    2.5 ⣀⣀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
      2 ⠀⠀⠉⠉⠉⠑⠒⠒⠒⠒⠤⠤⠤⠤⢄⣀⣀⣀⣀⣀⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
    1.5 ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠉⠉⠉⠉⠉⠉⠑⠒⠒⠒⠒⠒⠒⠤⠤⠤⠤⠤⠤⠤⢄⣀⣀⣀⣀⣀⣀⣀⣀⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
      1 ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠈⠉⠉⠉⠉⠉⠉⠉⠉⠉⠙⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠢|
time    compute 30%  wait for data 60%  evaluation 5%  logging 2%  other 3%     |
stage                       busy     starved     blocked  elements/s     bytes/s|
folder                      0.05        0.00        0.00         320   48.0 MB/s|
shuffle                     0.00        0.00        0.00         320   48.0 MB/s|
decode                      1.90        0.01        0.00         320   48.0 MB/s|
normalize                   0.02        0.00        0.00         320   48.0 MB/s|
batch                       0.01        0.40        0.10         320   48.0 MB/s|
verdict decode: Training waits for samples to be decoded (stage `decode`): 62%  |
        of the time is lost, so the run could be 2.6 times as fast at best. Why…|
try     leave train.feed_threads out                                            |
gpu 0   97% busy  612 of 700 W  20.0 GB of 80.0 GB  91 C  1485 MHz (-25%, heat) |
cpu     [███████████████     ] 75% of 2 CPUs                                    |
memory  [████████████▌       ] 10.0 GB of 16.0 GB, swap 0 B of 2.0 GB           |
disk    [████▋               ] nvme0n1 23%, reads 10.0 MB/s, writes 2.0 MB/s    |
network eth0 1.0 MB/s in, 2.0 kB/s out                                          |
note    a note                                                                  |
)");
}

TEST(TopScreen, OfARunAt80By24InAscii) {
  EXPECT_EQ(ScreenOf(WatchedRun(), {.columns = 80, .rows = 24}, Glyphs::kAscii), R"(
runs/photos-20240131-235959  training, pid 4711                          q quits|
step    200 of 6,000 (3%)  epoch 0.33  9 min 00 s left  lr 0.001                |
rate    300 images/s  @@@@@@@@@@@@@@@@@@@@@                                     |
loss    1.15  1.15 to 2.19 over steps 10 to 200  eval step 180: accuracy 0.91...|
    2.5 ..                                                                      |
      2   ''''''''...........                                                   |
    1.5                     '''''''''''''.................                      |
      1                                                  '''''''''''''''''''''':|
time    compute 30%  wait for data 60%  evaluation 5%  logging 2%  other 3%     |
stage                       busy     starved     blocked  elements/s     bytes/s|
folder                      0.05        0.00        0.00         320   48.0 MB/s|
shuffle                     0.00        0.00        0.00         320   48.0 MB/s|
decode                      1.90        0.01        0.00         320   48.0 MB/s|
normalize                   0.02        0.00        0.00         320   48.0 MB/s|
batch                       0.01        0.40        0.10         320   48.0 MB/s|
verdict decode: Training waits for samples to be decoded (stage `decode`): 62%  |
        of the time is lost, so the run could be 2.6 times as fast at best. W...|
try     leave train.feed_threads out                                            |
gpu 0   97% busy  612 of 700 W  20.0 GB of 80.0 GB  91 C  1485 MHz (-25%, heat) |
cpu     [|||||||||||||||     ] 75% of 2 CPUs                                    |
memory  [|||||||||||||       ] 10.0 GB of 16.0 GB, swap 0 B of 2.0 GB           |
disk    [|||||               ] nvme0n1 23%, reads 10.0 MB/s, writes 2.0 MB/s    |
network eth0 1.0 MB/s in, 2.0 kB/s out                                          |
note    a note                                                                  |
)");
}

TEST(TopScreen, OfARunAt20By5) {
  EXPECT_EQ(ScreenOf(WatchedRun(), {.columns = 20, .rows = 5}, Glyphs::kUnicode), R"(
runs/photos-2024013…|
step    200 of 6,00…|
rate    300 images/s|
loss    1.15  1.15 …|
verdict decode: Tra…|
)");
}

TEST(TopScreen, OfARunAt130By40) {
  EXPECT_EQ(ScreenOf(WatchedRun(), {.columns = 130, .rows = 40}, Glyphs::kUnicode), R"(
runs/photos-20240131-235959  training, pid 4711                                                                            q quits|
step    200 of 6,000 (3%)  epoch 0.33  9 min 00 s left  lr 0.001                                                                  |
rate    300 images/s  █████████████████████                                                                                       |
loss    1.15  1.15 to 2.19 over steps 10 to 200  eval step 180: accuracy 0.9100, loss 1.2000                                      |
    2.5 ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
        ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
        ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
        ⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
        ⠈⠑⠒⠤⣀⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
        ⠀⠀⠀⠀⠀⠈⠉⠒⠤⢄⣀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
      2 ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠉⠑⠒⠤⣄⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
        ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠈⠉⠒⠒⠤⢄⣀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
        ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠉⠉⠒⠢⠤⢄⣀⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
        ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠈⠉⠒⠒⠤⠤⣀⣀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
        ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠉⠉⠒⠒⠢⠤⢄⣀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
        ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠉⠉⠑⠒⠒⠤⠤⣀⣀⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
    1.5 ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠈⠉⠉⠒⠒⠒⠤⠤⢄⣀⣀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
        ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠉⠉⠉⠒⠒⠒⠤⠤⠤⣀⣀⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
        ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠈⠉⠉⠑⠒⠒⠢⠤⠤⠤⣀⣀⣀⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
        ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠈⠉⠉⠉⠒⠒⠒⠢⠤⠤⠤⢄⣀⣀⣀⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
        ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠈⠉⠉⠉⠒⠒⠒⠒⠤⠤⠤⠤⢄⣀⣀⣀⡀|
        ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠈|
      1 ⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀|
time    compute 30%  wait for data 60%  evaluation 5%  logging 2%  other 3%                                                       |
stage                                           busy     starved     blocked  elements/s     bytes/s                              |
folder                                          0.05        0.00        0.00         320   48.0 MB/s                              |
shuffle                                         0.00        0.00        0.00         320   48.0 MB/s                              |
decode                                          1.90        0.01        0.00         320   48.0 MB/s                              |
normalize                                       0.02        0.00        0.00         320   48.0 MB/s                              |
batch                                           0.01        0.40        0.10         320   48.0 MB/s                              |
verdict decode: Training waits for samples to be decoded (stage `decode`): 62% of the time is lost, so the run could be 2.6 times |
        as fast at best. Why: steps wait for data in 62% of the time; `decode`: 2 threads spent 96% of the time in it             |
try     leave train.feed_threads out                                                                                              |
gpu 0   97% busy  612 of 700 W  20.0 GB of 80.0 GB  91 C  1485 MHz (-25%, heat)  Fake GPU 0                                       |
cpu     [███████████████     ] 75% of 2 CPUs                                                                                      |
          0 [████████] 100%   1 [████    ]  50%                                                                                   |
memory  [████████████▌       ] 10.0 GB of 16.0 GB, swap 0 B of 2.0 GB                                                             |
disk    [████▋               ] nvme0n1 23%, reads 10.0 MB/s, writes 2.0 MB/s                                                      |
network eth0 1.0 MB/s in, 2.0 kB/s out                                                                                            |
note    a note                                                                                                                    |
)");
}

TEST(TopScreen, OfProcessesAt80By24) {
  EXPECT_EQ(ScreenOf(MadeUpProcesses(), {.columns = 80, .rows = 24}, Glyphs::kUnicode), R"(
process 4711  running  python train.py --epochs 3                        q quits|
uses    1.28 CPUs  2 processes, 13 threads  1.5 GB  5.0 MB/s from disks         |
time    the first thread waits for other processes (poll) 75%, computes 25%     |
      pid    cpus  threads    memory  command                                   |
     4712    0.98        1    300 MB  python train.py --epochs 3                |
     4711    0.30       12    1.2 GB  python train.py --epochs 3                |
verdict augmentation: Training waits for samples to be transformed: 75% of the  |
        time is lost, so the run could be 4 times as fast at best. Why: the     |
        first thread waits 75% of the time for 1 worker, which computes         |
try     num_workers=2                                                           |
cpu     [███████████████     ] 75% of 2 CPUs                                    |
          0 [████████] 100%   1 [████    ]  50%                                 |
memory  [████████████▌       ] 10.0 GB of 16.0 GB, swap 0 B of 2.0 GB           |
disk    [████▋               ] nvme0n1 23%, reads 10.0 MB/s, writes 2.0 MB/s    |
network eth0 1.0 MB/s in, 2.0 kB/s out                                          |
)");
}

TEST(TopScreen, OfProcessesAt20By5) {
  EXPECT_EQ(ScreenOf(MadeUpProcesses(), {.columns = 20, .rows = 5}, Glyphs::kUnicode), R"(
process 4711  runni…|
uses    1.28 CPUs  …|
      pid    cpus  …|
     4712    0.98  …|
verdict augmentatio…|
)");
}

TEST(TopScreen, OfARunThatHasNotBegun) {
  TopHistory history = MadeUpRun(0, 0);
  history.samples[0].progress.reset();
  history.samples[0].gpus.clear();
  history.state = TopState::kStarting;
  history.state_text = "starting";
  EXPECT_EQ(ScreenOf(history, {.columns = 80, .rows = 24}, Glyphs::kUnicode), R"(
runs/photos-20240131-235959  starting                                    q quits|
step    nothing is published yet: it has not begun                              |
verdict too little has been seen                                                |
memory  [████████████▌       ] 10.0 GB of 16.0 GB, swap 0 B of 2.0 GB           |
)");
}

TEST(TopScreen, FitsEverySize) {
  for (const TopHistory& history : {WatchedRun(), MadeUpProcesses(), MadeUpRun(3, 3)}) {
    for (size_t columns = 0; columns < 140; columns += columns < 30 ? 1 : 7) {
      for (size_t rows = 0; rows < 45; ++rows) {
        for (const Glyphs glyphs : {Glyphs::kAscii, Glyphs::kUnicode}) {
          const auto lines = TopScreen(history, {.columns = columns, .rows = rows}, glyphs);
          ASSERT_LE(lines.size(), rows);
          ASSERT_EQ(lines.empty(), rows == 0 || columns == 0);
          for (const std::string& line : lines) ASSERT_LE(ColumnsOf(line), columns) << line;
        }
      }
    }
  }
}

// The same history gives the same screen, however often.
TEST(TopScreen, IsAFunctionOfItsArguments) {
  const TopHistory history = WatchedRun();
  const ScreenSize size = {.columns = 97, .rows = 31};
  EXPECT_EQ(TopScreen(history, size, Glyphs::kUnicode), TopScreen(history, size, Glyphs::kUnicode));
}

TEST(TopScreen, OfMoreStagesThanRowsShowsTheBusiestInTheirOrder) {
  TopHistory history = WatchedRun();
  for (TopSample& sample : history.samples) {
    for (int i = 0; i < 30; ++i)
      sample.progress->input->stages.push_back({.name = fmt::format("idle{}", i)});
  }
  const std::string screen = ScreenOf(history, {.columns = 80, .rows = 24}, Glyphs::kUnicode);
  for (const char* name : {"\nfolder ", "\ndecode ", "\nbatch "})
    EXPECT_THAT(screen, HasSubstr(name));
  EXPECT_LT(screen.find("\nfolder "), screen.find("\ndecode "));
}

TEST(TopScreen, OfAMachineWithManyCpusShowsACharacterForEach) {
  TopHistory history = WatchedRun();
  for (size_t i = 0; i < history.samples.size(); ++i) {
    MachineCounters& machine = history.samples[i].machine;
    machine.cpus.clear();
    for (int64_t cpu = 0; cpu < 128; ++cpu) {
      const int64_t busy = static_cast<int64_t>(i) * (cpu % 2 == 0 ? 100 : 0);
      machine.cpus.push_back(
          {.id = cpu, .busy = busy, .idle = 100 * static_cast<int64_t>(i) - busy});
    }
  }
  const std::string screen = ScreenOf(history, {.columns = 100, .rows = 60}, Glyphs::kUnicode);
  EXPECT_THAT(screen, HasSubstr("50% of 128 CPUs"));
  EXPECT_THAT(screen, HasSubstr("\n        █ █ █ █ █ █ "));
}

TEST(TopScreen, NamesAndFiguresThatMakeNoSenseSpoilNothing) {
  TopHistory history = WatchedRun();
  history.target = "a\x1b[2J\nb\u202e\xff";
  history.notes = {"x\ty\r\n"};
  PublishedProgress& progress = *history.samples.back().progress;
  progress.noun = "\x1b]0;title\x07";
  progress.step = -5;
  progress.total_steps = std::numeric_limits<int64_t>::max();
  progress.loss = progress.lr = progress.epoch = NAN;
  progress.samples_per_s = INFINITY;
  progress.seconds_left = 1e300;
  progress.input->stages[0].name = std::string(5000, 'x') + "\n";
  progress.input->stages[1].busy_s = 1e308;
  history.losses = {{.step = NAN, .loss = 1},
                    {.step = 1, .loss = NAN},
                    {.step = 2, .loss = 1e308},
                    {.step = 3, .loss = -1e308},
                    {.step = 4, .loss = INFINITY}};
  history.samples.back().machine.memory.available_bytes = int64_t{1} << 62;
  history.samples.back().gpus[0] = {.name = "\n",
                                    .used = 1e9,
                                    .power_w = NAN,
                                    .memory_bytes = 0,
                                    .memory_used_bytes = -1,
                                    .clock_mhz = 5,
                                    .most_clock_mhz = -3};
  for (const Glyphs glyphs : {Glyphs::kAscii, Glyphs::kUnicode}) {
    for (const size_t columns : {20, 80, 200}) {
      const auto lines = TopScreen(history, {.columns = columns, .rows = 40}, glyphs);
      for (const std::string& line : lines) {
        EXPECT_LE(ColumnsOf(line), columns);
        for (const char c : line) EXPECT_FALSE(c == '\n' || c == '\x1b' || c == '\r' || c == '\t');
      }
    }
  }
}

}  // namespace stoker::top_screen_test
