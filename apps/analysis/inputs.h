// SPDX-License-Identifier: BSD-3-Clause
// The problem on which a command works: the trace, phase, machine and current placement.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "poise/strategies/strategy.h"
#include "poise/trace/trace.h"

namespace CLI {
class App;
}

namespace poise::apps {

struct InputOptions {
  std::string trace;
  std::vector<std::string> machines;   // if empty, the trace's machine is used
  std::string current;                 // a placement file; if empty, the trace's placement is used
  std::string start = "trace";         // or "round_robin", "blocked"
  std::string model = "physical";      // name of the cost formula
  std::optional<std::uint64_t> phase;  // id of a phase; without a value, the first phase
  std::uint64_t seed = 0;
  std::uint64_t capacity = 0;  // maximum number of tasks per place; 0: no limit

  std::vector<std::string> files() const;  // all input files
  /// The input files that no result may overwrite: those of the trace and the machines, and
  /// `others`. The file with the current placement is not among them: a command may overwrite it
  /// with a new placement.
  std::vector<std::string> kept_files(std::vector<std::string> others = {}) const;
};

/// Throws Error if more than one of `files` is "-", which stands for stdin.
void check_stdin(const std::vector<std::string>& files);

/// Adds the argument TRACE, the options --machine, --phase, --seed and --start, and an option named
/// `current_flag`, which takes a file with the current placement.
void add_input_options(CLI::App& command, InputOptions& options, const char* current_flag);

/// Adds --capacity, for commands that place tasks.
void add_capacity(CLI::App& command, InputOptions& options);
/// Adds --exec-limit, the time limit of strategies that are programs (contender.h).
void add_exec_limit(CLI::App& command, std::string& limit);

/// Allows the user to give the option --machine several times, with one machine each time.
void allow_many_machines(CLI::App& command);

/// Reads what the options name: the trace, the machines and the current placement.
class Inputs {
 public:
  /// Reads the trace. Throws Error if the trace or an option is invalid.
  explicit Inputs(InputOptions options);

  const Phase& phase() const { return trace_.phases[phase_]; }
  const Trace& trace() const { return trace_; }
  std::size_t num_machines() const;

  /// For a placement that will be used for the whole run: replaces the messages of the chosen phase
  /// by the messages of all phases. If not all phases have the same tasks, the chosen phase keeps
  /// its own messages. In both cases, adds a note that says which messages are used. Does nothing
  /// if the user selected a phase or if there is only one phase.
  void count_all_messages();
  /// Number of phases whose messages phase() contains: the number of all phases if
  /// count_all_messages() added their messages, otherwise 1.
  std::size_t counted_phases() const { return counted_phases_; }
  /// A trace of the selected phase and all later ones.
  Trace trace_from_phase() const;
  /// The assumptions made so far, one line each, to be shown to the user.
  std::span<const std::string> notes() const { return notes_; }

  /// Returns the problem on machine number i of the command line. The problem refers to data of
  /// this object and is valid until the next call of on(). If neither a file nor the trace gives a
  /// current placement, the problem starts from `stand_in`; the caller must check that `stand_in`
  /// fits the machine.
  Problem on(std::size_t i, const Placement* stand_in = nullptr);

 private:
  void choose_phase();
  Machine machine_named(const std::string& text, const Placement* stand_in);
  Placement current_on(const Machine& machine);
  void check_current() const;
  void fit_background(std::uint32_t num_places);

  InputOptions options_;
  Trace trace_;
  CostFormula formula_ = CostFormula::nuco;
  std::size_t phase_ = 0, counted_phases_ = 1;
  std::optional<Placement> given_;  // read from the placement file
  std::vector<double> recorded_background_s_;
  std::vector<std::uint64_t> recorded_place_bytes_;
  std::vector<std::vector<double>> past_loads_s_;
  Machine machine_;
  Placement current_;
  std::vector<std::string> notes_;
};

}  // namespace poise::apps
