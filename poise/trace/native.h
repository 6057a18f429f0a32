// The native format `.poise`: a header, then sections with checksums (docs/formats.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "poise/trace/trace.h"

namespace poise::native {

/// What every file begins with; the carriage return betrays a file copied as text.
inline constexpr std::string_view kMagic = "\x89POISE\r\n";

/// Whether the end of a file may be missing.
enum class Reading {
  whole,    // a file that was never finished is refused
  recover,  // the whole phases before the first damage are the trace
};

/// Reads a file's bytes; `name` is for errors, which also give the byte. Nothing is allocated that
/// the bytes do not back.
Trace read(const std::string& name, std::string_view bytes, Reading reading = Reading::whole);

/// The whole file.
std::string write(const Trace& trace);

/// Records a trace phase by phase. Each phase reaches the file in one piece, so whatever happens
/// later, Reading::recover finds all phases added before.
class Recording {
 public:
  /// Creates the file. Throws Error naming it.
  Recording(const std::string& path, std::uint32_t num_places, const Machine* machine = nullptr);
  /// Without finish() the file stays unfinished.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Throws Error when the file cannot be written; it then ends with the phase before.
  void add(const Phase& phase);

  /// Marks the file as whole and closes it.
  void finish();

 private:
  void append(std::string_view bytes);

  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t num_phases_ = 0;
};

}  // namespace poise::native
