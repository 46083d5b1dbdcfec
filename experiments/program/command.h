#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace halfulp {

// One function a command, in a file of its own (command_<name>.cpp); main.cpp calls them in the order of the
// help. Each adds a subcommand with options, a footer with an example, and a callback that does the work. A
// callback throws Error (or CLI::ValidationError) for bad usage or input, FailedCheck after reporting a check
// that failed, and writes its results with print_result() at its end, so that an error leaves standard output
// empty.

void add_formats_command(CLI::App& app);
void add_quantize_command(CLI::App& app);
void add_decode_command(CLI::App& app);
void add_check_command(CLI::App& app);
void add_gap_command(CLI::App& app);
void add_error_command(CLI::App& app);
void add_codes_command(CLI::App& app);
void add_plan_command(CLI::App& app);
void add_memory_command(CLI::App& app);
void add_step_command(CLI::App& app);
void add_run_command(CLI::App& app);
void add_sweep_command(CLI::App& app);
void add_report_command(CLI::App& app);
void add_bench_command(CLI::App& app);

/// Ends the program with status 1; the command has said what failed.
struct FailedCheck {};

/// Writes a result to standard output.
/// errors: throws Error if it cannot be written.
void print_result(const std::string& text);

/// Writes a message to standard error: `halfulp: text`.
void print_message(const std::string& text);

}  // namespace halfulp
