// Record files: whole lines or nothing, one writer, torn ends dropped.
#include "experiments/record_file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <set>
#include <thread>

#include "tests/experiments/toy_configs.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;
using test::contains;
using test::error_of;

Json line(int number, std::size_t length = 10) {
  return {{"key", std::to_string(number)}, {"text", std::string(length, 'x')}};
}
std::vector<std::string> keys_in(const std::string& folder) {
  std::vector<std::string> keys;
  for (const Json& record : read_records(folder)) keys.push_back(record.at("key").get<std::string>());
  return keys;
}

TEST_CASE("record file: a line appended is a line read, order kept, over several openings and files") {
  const test::TemporaryFolder folder;
  const std::string deep = folder / "a/b";
  for (int number = 0; number < 3; ++number) RecordFile(deep, "records.jsonl").append(line(number));
  RecordFile(deep, "records-1-of-2.jsonl").append(line(3));
  RecordFile(deep, "environment.jsonl").append(line(4));
  CHECK(keys_in(deep) == std::vector<std::string>{"3", "0", "1", "2"});
}

TEST_CASE("record file: a torn last line is dropped by the next opening, and not read before") {
  const test::TemporaryFolder folder;
  for (const char* torn : {"{\"key\": \"9\"", "{\"key\": \"9\"}", "x"}) {
    const std::string where = folder / ("f" + std::to_string(std::string(torn).size()));
    RecordFile(where, "records.jsonl").append(line(1));
    test::write(where + "/records.jsonl", torn, true);
    CHECK(keys_in(where) == std::vector<std::string>{"1"});
    RecordFile(where, "records.jsonl").append(line(2));
    CHECK(keys_in(where) == std::vector<std::string>{"1", "2"});
    CHECK(test::record_lines(where).size() == 2);
  }
  // Nothing but a torn line.
  test::write(folder / "records.jsonl", "{\"key");
  RecordFile(folder / "", "records.jsonl").append(line(5));
  CHECK(keys_in(folder / "") == std::vector<std::string>{"5"});
}

TEST_CASE("record file: a second writer is refused while the first is open") {
  const test::TemporaryFolder folder;
  {
    RecordFile first(folder / "", "records.jsonl");
    CHECK(contains(error_of([&] { RecordFile(folder / "", "records.jsonl"); }),
                   {"another process is writing", "records.jsonl", "allowed: "}));
    RecordFile other_shard(folder / "", "records-0-of-2.jsonl");
    first.append(line(1));
  }
  RecordFile(folder / "", "records.jsonl").append(line(2));
  CHECK(keys_in(folder / "") == std::vector<std::string>{"1", "2"});
}

TEST_CASE("record file: folders and files that cannot be written, folders that cannot be read") {
  const test::TemporaryFolder folder;
  test::write(folder / "file", "");
  CHECK(contains(error_of([&] { RecordFile(folder / "file", "records.jsonl"); }), {"folder", "file"}));
  CHECK(contains(error_of([&] { RecordFile(folder / "file/below", "records.jsonl"); }), {"folder", "below"}));
  std::filesystem::create_directories(folder / "d/records.jsonl");
  CHECK(contains(error_of([&] { RecordFile(folder / "d", "records.jsonl"); }),
                 {"cannot be opened", "d/records.jsonl"}));
  CHECK(contains(error_of([&] { read_records(folder / "none"); }), {"no such folder", "none"}));
  CHECK(contains(error_of([&] { read_records(folder / "file"); }), {"no such folder", "file"}));
}

TEST_CASE("record file: a line in the middle that is no record is an error with file and line") {
  const test::TemporaryFolder folder;
  for (const char* bad :
       {"garbage", "5", "[1]", "null", "\"text\"", "{\"bits_version\": 1}", "{\"key\": 5}", ""}) {
    CAPTURE(std::string(bad));
    test::write(folder / "records.jsonl", "{\"key\": \"1\"}\n" + std::string(bad) + "\n{\"key\": \"2\"}\n");
    CHECK(contains(error_of([&] { read_records(folder / ""); }),
                   {"records.jsonl, line 2", "given '", "allowed: "}));
  }
}

TEST_CASE("record file: lines of several threads stay whole") {
  const test::TemporaryFolder folder;
  {
    RecordFile file(folder / "", "records.jsonl");
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 4; ++writer)
      writers.emplace_back([&, writer] {
        for (int i = 0; i < 10; ++i) file.append(line(writer * 10 + i, 5000));
      });
  }
  const auto keys = keys_in(folder / "");
  CHECK(std::set<std::string>(keys.begin(), keys.end()).size() == 40);
  CHECK(keys.size() == 40);
}

TEST_CASE("record file: a line that does not fit leaves nothing behind, and the next one is whole") {
  const test::TemporaryFolder folder;
  RecordFile file(folder / "", "records.jsonl");
  file.append(line(1));
  // A limit on the size of files stands for a full disk: the write stops half way through the line.
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string error = error_of([&] { file.append(line(2, 5000)); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  CHECK(contains(error, {"records.jsonl", "cannot be written"}));
  file.append(line(3));
  CHECK(keys_in(folder / "") == std::vector<std::string>{"1", "3"});
}

}  // namespace
}  // namespace halfulp
