#include "stoker/tools/live/process_usage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "stoker/base/testing.h"

namespace stoker::process_usage_test {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST(ProcessUsage, IsWhatTheKernelWrites) {
  const TempDir root;
  const fs::path proc = fs::path(root.path()) / "proc";
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  Write(proc / "stat", "cpu  30 0 30 300\nintr 1 2 3\nbtime 1000\n");
  Write(proc / "self/stat",
        "7 (a) b) R 1 1 1 0 0 0 11 0 13 0 300 200 0 0 20 0 5 0 400 8192 6 0 0 0 0 0 0 0 0\n");
  Write(proc / "self/status", "VmSize:\t  8 kB\nThreads:\t5\n");
  Write(proc / "self/io", "rchar: 9\nread_bytes: 4096\nwrite_bytes: 512\n");
  Write(proc / "self/fd/0", "");
  const ProcessUsage usage = ReadProcessUsage(root.path());
  EXPECT_DOUBLE_EQ(usage.cpu_seconds.value_or(0), 500 / ticks);
  EXPECT_DOUBLE_EQ(usage.start_seconds.value_or(0), 1000 + 400 / ticks);
  EXPECT_EQ(usage.resident_bytes, 6 * ::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(usage.virtual_bytes, 8 * 1024);
  EXPECT_EQ(usage.threads, 5);
  EXPECT_EQ(usage.read_bytes, 4096);
  EXPECT_EQ(usage.written_bytes, 512);
  EXPECT_EQ(usage.open_files, 1);
}

TEST(ProcessUsage, WhatIsMissingOrDamagedIsEmpty) {
  const TempDir root;
  EXPECT_FALSE(ReadProcessUsage(root.path()).cpu_seconds);
  Write(fs::path(root.path()) / "proc/self/stat", "what\n");
  Write(fs::path(root.path()) / "proc/self/status", "Threads: many\n");
  const ProcessUsage usage = ReadProcessUsage(root.path());
  EXPECT_FALSE(usage.cpu_seconds || usage.start_seconds || usage.threads || usage.open_files);
}

TEST(ProcessUsage, OfThisProcessIsThere) {
  const ProcessUsage usage = ReadProcessUsage();
  EXPECT_GT(usage.resident_bytes.value_or(0), 0);
  EXPECT_GT(usage.open_files.value_or(0), 0);
  EXPECT_GT(usage.threads.value_or(0), 0);
}

}  // namespace
}  // namespace stoker::process_usage_test
