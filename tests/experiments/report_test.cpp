#include "experiments/report/report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "experiments/report/findings.h"
#include "experiments/report/one_weight.h"
#include "experiments/report/page.h"
#include "experiments/report/prediction_table.h"
#include "experiments/report/result_tables.h"
#include "experiments/report/text_canvas.h"
#include "formats/error.h"

using namespace halfulp;
using Json = nlohmann::ordered_json;

namespace {

/// The smallest record of a run that a report accepts.
Json record(const std::string& problem, const std::string& rule, const std::string& label,
            const std::string& scheme, int seed) {
  return {{"key", problem + rule + label + scheme + std::to_string(seed)},
          {"bits_version", 1},
          {"version", "0.1.0"},
          {"commit", "abc"},
          {"label", label},
          {"config",
           {{"problem", {{"name", problem}}},
            {"rule", {{"name", rule}, {"eta", 1e-3}}},
            {"plan", {{"scheme", scheme}, {"weights", {{"format", "bf16"}, {"rounding", "nearest_even"}}}}},
            {"steps", 100},
            {"schedule", "constant"},
            {"number", "float32"},
            {"seed", seed}}},
          {"status", "finished"}};
}

Json model(const std::string& label, const std::string& scheme, int seed, double loss,
           double stagnation = 0.5, double delivered = 0.5) {
  const std::string rule = label.substr(0, label.find('+'));
  Json run = record("mlp", rule, label, scheme, seed);
  run["result"] = {{"train", {{"loss", loss / 2}}}, {"test", {{"loss", loss}, {"accuracy", 0.75}}}};
  run["signs"] = {{"excess", 0.125}};
  run["measurements"]["all"] = {{"stagnation", {{"share", stagnation}}},
                                {"delivery", {{"ratio", delivered}}},
                                {"trapping", {{"trapped_at_zero_share", 0.25}, {"zero_share", 0.25}}},
                                {"sign_flips", {{"refused_share", 0.0001}}}};
  return run;
}

Json one_weight(const std::string& problem, double final, int changed, double last_share) {
  Json run = record(problem, "adamw", "adamw", "bf16/fp32", 0);
  run["final_weights"] = {final};
  run["measurements"] = {{"changed_steps", changed},
                         {"last_tenth", {{"stagnation", {{"share", last_share}, {"updated", 10}}}}}};
  return run;
}

std::string verdict(const std::string& problem, double final, int changed, double last_share) {
  return weight_ending(one_weight(problem, final, changed, last_share)).verdict;
}

bool says(const std::vector<std::string>& sentences, const std::string& sentence) {
  return std::find(sentences.begin(), sentences.end(), sentence) != sentences.end();
}

class Folder {
 public:
  explicit Folder(const char* name) : path_(std::filesystem::temp_directory_path() / name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("statistics: sample standard deviation, and Spearman's correlation with ties at mean ranks") {
  const Spread spread = spread_of({1, 2, 6, NAN});
  CHECK(spread.count == 3);
  CHECK(spread.not_finite == 1);
  CHECK(spread.mean == 3);
  CHECK(spread.deviation == std::sqrt(7.0));  // (4 + 1 + 9) / 2
  CHECK(!spread_of({5}).has_deviation());
  CHECK(std::isnan(spread_of({}).mean));
  CHECK(rank_correlation({1, 2, 3, 4}, {10, 20, 30, 40}) == 1);
  CHECK(rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}) == -1);
  CHECK(rank_correlation({1, 2, 3}, {1, 3, 2}) == 0.5);  // 1 - 6 * 2 / (3 * 8)
  // ranks 0.5 0.5 2 against 0 1 2: ab = 1.5, aa = 1.5, bb = 2
  CHECK(rank_correlation({7, 7, 9}, {1, 2, 3}) == 1.5 / std::sqrt(3.0));
  CHECK(std::isnan(rank_correlation({1, 1, 1}, {1, 2, 3})));
  CHECK(std::isnan(rank_correlation({1, 2}, {1, 2})));
  CHECK(spread_text(spread_of({0.5, 0.5})) == "0.5000+-0.0000");
  CHECK(spread_text(spread_of({0.25})) == "0.2500");
  CHECK(spread_text(spread_of({NAN})) == "not finite");
  CHECK(weight_text(4) == "4.0");
  CHECK(weight_text(0.2578125) == "0.2578");
  CHECK(share_text(0.0001) == "<.001");
}

TEST_CASE("verdict: each way in which one weight can end has its words") {
  CHECK(verdict("quadratic_1d:4->3", 4, 0, 1) == "stuck at 4.0");
  CHECK(verdict("quadratic_1d:4->3", 3, 47, 1) == "reaches 3.0");
  CHECK(verdict("quadratic_1d:4->3", 3.25, 90, 0.5) == "ends at 3.25, 0.25 from the target");
  CHECK(verdict("quadratic_1d:4->3", 3.25, 20, 0.96) == "stuck at 3.25");
  CHECK(verdict("quadratic_1d:0->0.5", 0, 0, 0) == "trapped at 0");
  CHECK(verdict("quadratic_1d:0->0.5", 0.2578125, 260, 0.99) == "stuck at 0.2578");
  CHECK(verdict("quadratic_1d:0.5->-0.5", 0.302734375, 101, 0.99) == "never crosses zero, stuck at 0.3027");
  CHECK(verdict("quadratic_1d:0.5->-0.5", 3e-12, 100, 0) == "never crosses zero, ends at 3e-12");
  // The gap of BF16 below 0.5 is 2^-9; two of them are too many.
  CHECK(verdict("quadratic_1d:0.5->-0.5", -0.498046875, 100, 0) == "reaches -0.498, within one gap of -0.5");
  CHECK(verdict("quadratic_1d:0.5->-0.5", -0.49609375, 100, 0) ==
        "ends at -0.4961, 0.003906 from the target");
  CHECK(verdict("quadratic_1d:4->3", NAN, 0, 0) == "no final weight recorded");
  Json diverged = one_weight("quadratic_1d:4->3", 9, 5, 0);
  diverged["status"] = "diverged";
  diverged["diverged_at"] = 17;
  CHECK(weight_ending(diverged).verdict == "diverged at 17");
  Json by_settings = one_weight("quadratic_1d", 4, 0, 1);
  CHECK(!weight_case(by_settings).has_value());
  by_settings["config"]["problem"]["start"] = 4;
  by_settings["config"]["problem"]["target"] = 3;
  CHECK(weight_case(by_settings)->target == 3);
}

TEST_CASE("prediction table: a weight above the freezing magnitude is said to stay, beside where it ended") {
  const RecordSet set = choose_records({one_weight("quadratic_1d:4->3", 4, 0, 1)});
  const Table table = prediction_table(group_records(set));
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0][3] == "start is above 0.5, where all freezes");
  CHECK(table.rows[0][4] == "stays at 4.0");
  CHECK(table.rows[0][5] == "ends at 4.0");
}

TEST_CASE("model table: means over seeds, ratio to fp32, divergence in words") {
  std::vector<Json> records{model("adamw", "fp32", 0, 0.5),      model("adamw", "fp32", 1, 0.5),
                            model("adamw", "bf16/fp32", 0, 0.7), model("adamw", "bf16/fp32", 1, 0.8),
                            model("madam", "bf16/fp32", 0, 0.4), model("madam", "bf16/fp32", 1, 0.4),
                            model("lmd", "bf16/fp32", 0, 0.1)};
  records[5]["status"] = "diverged";
  records[5]["diverged_at"] = 12;
  records[5].erase("result");
  records[6]["status"] = "diverged";
  records[6]["diverged_at"] = 9;
  records[6].erase("result");
  const RecordSet set = choose_records(records);
  const std::vector<ProblemRuns> problems = group_records(set);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].kind == ProblemKind::model);
  CHECK(problems[0].schemes() == std::vector<std::string>{"fp32", "bf16/fp32"});
  const Table table = model_table(problems[0], "bf16/fp32");
  REQUIRE(table.rows.size() == 3);
  CHECK(table.rows[0] == std::vector<std::string>{"adamw", "0.7500+-0.0707", "0.750+-0.000", "0.3750",
                                                  "1.500", "0.500", "0.500", "0.250", "<.001", "+0.125",
                                                  "2"});
  CHECK(table.rows[1][0] == "madam");
  CHECK(table.rows[1][1] == "0.4000");
  CHECK(table.rows[1][10] == "1/2, diverged at 12");
  CHECK(table.rows[2][1] == "diverged at 9");
  // A rule that diverged on any seed is not the best one.
  CHECK(table.strong_rows == std::vector<std::size_t>{0});
}

TEST_CASE("groups: runs that differ in a rate are told apart by it, and the best one is marked") {
  Json slow = model("adamw", "fp32", 0, 0.6), fast = model("adamw", "fp32", 0, 0.5);
  fast["key"] = "other";
  fast["config"]["rule"]["eta"] = 0.01;
  const RecordSet set = choose_records({slow, fast});
  const std::vector<ProblemRuns> problems = group_records(set);
  REQUIRE(problems[0].groups.size() == 2);
  CHECK(problems[0].groups[0].row_name() == "adamw (eta=0.001)");
  CHECK(problems[0].groups[1].row_name() == "adamw (eta=0.01)");
  CHECK(!problems[0].groups[0].is_best_setting);
  CHECK(problems[0].groups[1].is_best_setting);
}

TEST_CASE("findings: best rule, comparison and rank correlation as worked by hand") {
  const RecordSet set = choose_records({
      model("adamw", "bf16/fp32", 0, 1.00, 0.9, 0.1),
      model("adamw", "bf16/fp32", 1, 1.10, 0.9, 0.1),
      model("adamw+sr", "bf16/fp32", 0, 0.80, 0.8, 0.9),
      model("adamw+sr", "bf16/fp32", 1, 0.90, 0.8, 0.9),
      model("m_adam", "bf16/fp32", 0, 0.84, 0.2, 0.8),
      model("m_adam", "bf16/fp32", 1, 0.94, 0.2, 0.8),
  });
  const std::vector<ProblemRuns> problems = group_records(set);
  const std::vector<std::string> sentences = findings(problems[0]);
  // Means 1.05, 0.85, 0.89; every standard deviation is 0.1 / sqrt 2 = 0.0707.
  CHECK(says(
      sentences,
      "bf16/fp32: the smallest test loss is 0.8500 with adamw+sr, 0.0400 below m_adam (within seed noise "
      "0.0707)."));
  CHECK(
      says(sentences,
           "m_adam against adamw, test loss: bf16/fp32 -15.2 %. Lower beyond seed noise on 1 schemes, higher "
           "on 0, undecided on 0."));
  CHECK(
      says(sentences,
           "m_adam against adamw+sr, test loss: bf16/fp32 +4.7 % (not beyond noise). Lower beyond seed noise "
           "on 0 schemes, higher on 0, undecided on 1."));
  // Ranks of the losses 2 0 1; of the shares 2 1 0: +0.5; of the ratios 0 2 1: -1.
  CHECK(says(sentences,
             "Rank correlation with the test loss over 3 pairs of rule and scheme: stagnation share +0.50, "
             "delivered ratio -1.00; the delivered ratio orders the losses better."));
  CHECK(says(sentences,
             "Largest stagnation share: 0.900 (adamw on bf16/fp32), where the delivered ratio is 0.100."));
}

TEST_CASE("findings: the opposite data give the opposite sentences") {
  const RecordSet set = choose_records({
      model("adamw", "bf16/fp32", 0, 0.5, 0.1, 0.1),
      model("m_adam", "bf16/fp32", 0, 0.6, 0.2, 0.2),
      model("madam", "bf16/fp32", 0, 0.7, 0.3, 0.3),
  });
  const std::vector<ProblemRuns> problems = group_records(set);
  const std::vector<std::string> sentences = findings(problems[0]);
  CHECK(says(
      sentences,
      "bf16/fp32: the smallest test loss is 0.5000 with adamw, 0.1000 below m_adam (one seed, so nothing "
      "is known about noise)."));
  CHECK(says(sentences,
             "m_adam against adamw, test loss: bf16/fp32 +20.0 % (one seed). Lower beyond seed noise on 0 "
             "schemes, higher on 0, undecided on 1."));
  CHECK(says(sentences,
             "Rank correlation with the test loss over 3 pairs of rule and scheme: stagnation share +1.00, "
             "delivered ratio +1.00; the stagnation share orders the losses better."));
}

TEST_CASE("record set: newest bits version, each key once, the same whatever the order") {
  Json old = model("adamw", "fp32", 0, 0.5), now = old, other = model("madam", "fp32", 0, 0.5);
  now["bits_version"] = 2;
  other["bits_version"] = 2;
  const RecordSet set = choose_records({old, now, other, now});
  CHECK(set.bits_version == 2);
  CHECK(set.records.size() == 2);
  CHECK(set.notes ==
        std::vector<std::string>{"1 records of older bits versions were left out; version 2 is used",
                                 "1 repeated records were left out"});
  CHECK(choose_records({other, now, now, old}).records == set.records);
  CHECK_THROWS_AS(choose_records({}), Error);
  CHECK_THROWS_AS(choose_records({Json{{"key", "x"}}}), Error);
  CHECK_THROWS_AS(choose_records({Json(3)}), Error);
}

TEST_CASE("text: everything from a record is escaped, and pictures bring no address") {
  CHECK(html_text("a<b & \"c\" 'd'>") == "a&lt;b &amp; &quot;c&quot; &#39;d&#39;&gt;");
  const std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" id='a'>"
      "<use xlink:href='#p'/><g fill=\"url(#q)\"/></svg>";
  CHECK(inline_svg(svg, "f1-") == "<svg   id='f1-a'><use xlink:href='#f1-p'/><g fill=\"url(#f1-q)\"/></svg>");
}

TEST_CASE("drawing: a line that stays and one that moves to the level, marks at their ends") {
  const std::string text =
      draw_lines({{'a', "first", {0, 3}, {1, 1}}, {'b', "second", {0, 2, 3}, {1, 0, 0}}}, 0, "target", 4, 3);
  CHECK(text ==
        "        1 |abaa a\n"
        "          |\n"
        "        0 |- bb target b\n"
        "          +----\n"
        "           0  3 steps\n"
        "           a first   b second\n");
  CHECK(draw_lines({}, 0, "target") == "");
}

TEST_CASE(
    "report: a page without addresses or raw text; the same bytes in any order; nothing left by an error") {
  Json run = one_weight("quadratic_1d:4->3", 4, 0, 1), odd = model("adamw", "bf16/fp32", 0, 0.5);
  run["label"] = "<script>alert('x')</script>";
  run["trace"] = {{"step", {50, 100}}, {"loss", {0.5, nullptr}}, {"weights", {{4}, {4}, {4}}}};
  odd["result"]["test"]["loss"] = nullptr;
  const Report report = make_report({run, odd}, {});
  CHECK(report.page.find("http://") == std::string::npos);
  CHECK(report.page.find("https://") == std::string::npos);
  CHECK(report.page.find("<script") == std::string::npos);
  CHECK(report.page.find("&lt;script&gt;alert(&#39;x&#39;)") != std::string::npos);
  CHECK(report.page.find("<svg") != std::string::npos);
  CHECK(report.text.find("stuck at 4.0") != std::string::npos);
  CHECK(report.text.find("not finite") != std::string::npos);
  const Report again = make_report({odd, run}, {});
  CHECK(again.page == report.page);
  CHECK(again.text == report.text);

  const Folder folder("halfulp_report_test");
  CHECK_THROWS_AS(write_report(report, (folder.path_ / "none" / "page.html").string()), Error);
  CHECK(std::filesystem::is_empty(folder.path_));
  write_report(report, (folder.path_ / "page.html").string());
  CHECK(std::filesystem::file_size(folder.path_ / "page.html") == report.page.size());
  CHECK(std::filesystem::exists(folder.path_ / "figures" / "quadratic_1d-4_to_3_bf16-fp32_weight.csv"));
}
