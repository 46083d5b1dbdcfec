#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "experiments/program/command.h"
#include "formats/nearest_name.h"

namespace halfulp {
namespace {

enum ExitStatus : int { success = 0, failed_check = 1, bad_usage = 2 };

void add_commands(CLI::App& app) {
  add_formats_command(app);
  add_quantize_command(app);
  add_decode_command(app);
  add_check_command(app);
  add_gap_command(app);
  add_error_command(app);
  add_codes_command(app);
  add_plan_command(app);
  add_memory_command(app);
  add_step_command(app);
  add_run_command(app);
  add_sweep_command(app);
  add_report_command(app);
  add_bench_command(app);
}

/// Whether an argument is meant as a negative number, well-formed or not: -1.5, -.5, -0x1p3, -inf, -nan.
/// No option of any command begins like one.
bool is_negative_number(const std::string& argument) {
  if (argument.size() < 2 || argument[0] != '-') return false;
  const char first = argument[1];
  if ((first >= '0' && first <= '9') || first == '.') return true;
  const std::string word = CLI::detail::to_lower(argument.substr(1, 3));
  return word == "inf" || word == "nan";
}

/// The arguments last first, as CLI11 takes them. A leading space keeps it from reading a negative number as
/// a bundle of short options; everything that reads numbers skips it.
std::vector<std::string> arguments_of(int count, char** words) {
  std::vector<std::string> arguments;
  for (int i = count - 1; i > 0; --i) {
    std::string word = words[i];
    arguments.push_back(is_negative_number(word) ? " " + word : word);
  }
  return arguments;
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// What was wrong with the command line, and where to read on.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& words) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::vector<std::string> commands = names_of_commands(app);
  if (chosen.empty() && !words.empty() && words.back()[0] != '-')
    return "no such command: given '" + words.back() + "', nearest is '" +
           nearest_name(words.back(), commands) + "'; halfulp --help lists them";
  std::string text = error.what();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  for (const std::string& extra : app.remaining(true))
    if (extra.rfind("--", 0) == 0) {
      const std::string name = extra.substr(0, extra.find('='));
      text = "no such option: given '" + name + "', nearest is '" +
             nearest_name(name, names_of_options(command)) + "'";
      break;
    }
  return text + "; see halfulp " + (chosen.empty() ? "" : command.get_name() + " ") + "--help";
}

int run_program(int count, char** words) {
  CLI::App app(
      "Exact emulation of low-precision number formats, and of optimizers whose weights live only in them.",
      "halfulp");
  app.set_version_flag("--version", "halfulp " HALFULP_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0, 1 (a check failed), 2 (bad usage or input).\nEvery command has --help with an "
      "example.");
  add_commands(app);
  const std::vector<std::string> arguments = arguments_of(count, words);
  try {
    app.parse(std::vector<std::string>(arguments));
  } catch (const CLI::Success& request) {  // --help, --version
    app.exit(request);
    return success;
  } catch (const CLI::ParseError& error) {
    print_message(usage_error(app, error, arguments));
    return bad_usage;
  } catch (const FailedCheck&) {
    return failed_check;
  } catch (const std::exception& error) {
    print_message(error.what());
    return bad_usage;
  }
  return success;
}

}  // namespace
}  // namespace halfulp

int main(int count, char** words) { return halfulp::run_program(count, words); }
